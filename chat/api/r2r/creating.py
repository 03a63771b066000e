"""A document of what a form says: its file, its text, or its chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from django.db import IntegrityError, transaction
from django.utils.translation import gettext
from uuid_utils.compat import uuid7

from chat.api import uploading
from chat.api.credentials import NotAllowedError, Request
from chat.api.r2r import wire
from retrieval.audit.recording import record
from retrieval.ingestion.incoming import UploadError, clean_name
from retrieval.models import Collection, Visibility

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from retrieval.ingestion.uploads import Upload

UNTITLED = "text"


@dataclass(frozen=True)
class Given:
    """What a form says of a document beside what is in it."""

    id: UUID | None
    metadata: dict[str, Any]
    collection: UUID | None


def create(request: Request) -> Upload:
    """Take in the document of a form.

    Raises HttpError, UploadError, NotAllowedError, Http404; what is wrong with the form before
    anything of it is stored.
    """
    user, form = request.user, wire.form_of(request)
    given = _given(form.fields)
    text, chunks = form.fields.get("raw_text"), _chunks(form.fields)
    if [bool(text), bool(chunks), len(form.files) == 1].count(True) != 1 or len(form.files) > 1:
        wire.refuse("body", gettext("must have one of file, raw_text and chunks"))
    collection = uploading.target(user, given.collection or _default(user))
    if form.files:
        (file,) = form.files
        return uploading.add_one(
            user, collection, file.name or "", file, metadata=given.metadata, id=given.id
        )
    # Texts have no names that could tell that two of them are versions of one document.
    key, name = given.id or uuid7(), _name(given.metadata)
    if chunks:
        return uploading.add_chunks(user, collection, name, chunks, metadata=given.metadata, id=key)
    return uploading.add_text(user, collection, name, text or "", metadata=given.metadata, id=key)


def _given(form: Mapping[str, str]) -> Given:
    collections = _json(form, "collection_ids", list)
    if len(collections) > 1:
        wire.refuse("collection_ids", gettext("names several; a document is in one here"))
    _json(form, "ingestion_config", dict)
    try:
        return Given(
            UUID(form["id"]) if form.get("id") else None,
            _json(form, "metadata", dict),
            UUID(str(collections[0])) if collections else None,
        )
    except ValueError:
        wire.refuse("id, collection_ids", gettext("must be UUIDs"))


def _json(form: Mapping[str, str], name: str, kind: type) -> Any:
    said = form.get(name)
    value = wire.loads(name, said) if said else None
    if value is None:
        return kind()
    if not isinstance(value, kind):
        wire.refuse(name, gettext("must be JSON of another kind"))
    return value


def _chunks(form: Mapping[str, str]) -> list[str]:
    chunks = _json(form, "chunks", list)
    if not all(isinstance(each, str) for each in chunks):
        wire.refuse("chunks", gettext("must be a list of texts"))
    return chunks  # type: ignore[no-any-return]


def _name(metadata: dict[str, Any]) -> str:
    """Return the name of a text's file: its title, if it is said to have one."""
    title = metadata.get("title")
    try:
        return f"{clean_name(title if isinstance(title, str) else UNTITLED)}.txt"
    except UploadError:
        return f"{UNTITLED}.txt"


def _default(user: User) -> UUID:
    """Return the collection of a person's own documents, which nobody else sees; make it if needed.

    Raises NotAllowedError for people who may not add any.
    """
    if not user.has_perm("retrieval.add_document"):
        raise NotAllowedError(gettext("You may not add documents."))
    key = uuid5(wire.NAMESPACE, f"collections/{user.pk}")
    if not Collection.objects.filter(pk=key).exists():
        name = gettext("Documents of {name}").format(name=user.get_username())
        taken = Collection.objects.filter(name=name).exists()
        _make(user, key, f"{name} ({key.hex[:8]})" if taken else name)
    return key


def _make(user: User, key: UUID, name: str) -> None:
    try:
        with transaction.atomic():
            made = Collection.objects.create(pk=key, name=name, visibility=Visibility.RESTRICTED)
            made.managers.add(user)
            record(user, "collection.added", made)
    except IntegrityError:
        return  # by another request of theirs
