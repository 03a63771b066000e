"""Taking a file in: stored as it streams by, made a version of a document, and queued."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.files import File
from django.db import IntegrityError, transaction

from retrieval.audit.recording import record
from retrieval.ingestion.fetched import free_name
from retrieval.ingestion.incoming import (
    UploadError,
    clean_name,
    discard,
    not_allowed,
    over_quota,
    split_path,
    store,
    too_large,
)
from retrieval.ingestion.pipeline import title_of
from retrieval.ingestion.tasks import defer_ingestion
from retrieval.limits import uploads as limits
from retrieval.limits.uploads import QuotaError
from retrieval.models import Collection, Document, DocumentVersion, Stage

if TYPE_CHECKING:
    from django.contrib.auth.models import User

__all__ = [
    "Upload", "UploadError", "add_document", "clean_name", "delete_file", "not_allowed",
    "split_path", "too_large",
]  # fmt: skip


@dataclass(frozen=True)
class Upload:
    """What became of a file; `unchanged` when the document has these bytes already."""

    document: Document
    version: DocumentVersion
    unchanged: bool


def add_document(  # noqa: PLR0913 - a file has as many things said of it
    collection: Collection,
    name: str,
    file: File[bytes],
    user: User | None = None,
    *,
    folder: str = "",
    metadata: dict[str, Any] | None = None,
    id: UUID | None = None,  # noqa: A002
    chunk_starts: Sequence[int] = (),
) -> Upload:
    """Store a file as the newest version of the document of that name, and queue it.

    Folders in `name` are dropped; `folder` is where the document stands within its collection.
    `metadata`, as `metadata.checked` returns it, is set over what the document has. With an `id`
    it is a document of its own, under that name or a numbered one. `chunk_starts` say where the
    chunks of a text begin that is not to be cut anew, as `given.joined` returns them.

    Raises UploadError for a file that is too large, of a kind that is not taken, has no usable
    name, or is more than `user` may upload; `exists` if another document has the id.
    """
    name = clean_name(name, folder)
    try:
        limits.check(user, _known_size(file))
    except QuotaError as error:
        raise over_quota(error) from error
    version = DocumentVersion(chunk_starts=list(chunk_starts))
    store(version, name, file)
    try:
        upload = _register(collection, name, version, user, metadata=metadata or {}, id_=id)
    except QuotaError as error:  # another upload was faster
        discard(version, name)
        raise over_quota(error) from error
    except BaseException:
        discard(version, name)
        raise
    if upload.unchanged:
        discard(version, name)
    return upload


def _register(  # noqa: PLR0913 - as add_document
    collection: Collection,
    name: str,
    version: DocumentVersion,
    user: User | None,
    *,
    metadata: dict[str, Any],
    id_: UUID | None,
) -> Upload:
    with transaction.atomic():
        document = _document(collection, name, user, id_)
        if metadata:
            document.metadata |= metadata
            document.save(update_fields=["metadata"])
        newest = document.versions.defer("text").exclude(stage=Stage.FAILED).first()
        if newest is not None and _is_same(newest, version):
            return Upload(document, newest, unchanged=True)
        last = document.versions.order_by("-number").values_list("number", flat=True).first()
        version.document = document
        version.number = (last or 0) + 1
        version.save(force_insert=True)
        defer_ingestion(version)
        limits.charge(user, version)
        record(user, "document.uploaded", document, version=version.number)
    return Upload(document, version, unchanged=False)


def _document(collection: Collection, name: str, user: User | None, id_: UUID | None) -> Document:
    """Return the document of that name, or a new one of that id. Raises UploadError."""
    said = {"title": title_of(name), "uploaded_by": user}
    if id_ is None:
        documents = Document.objects.select_for_update(no_key=True)
        return documents.get_or_create(collection=collection, name=name, defaults=said)[0]
    # Its row is locked, so that nobody else takes the name that is free.
    Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
    document = Document(id=id_, collection=collection, **said)
    document.name = free_name(document, name)
    try:
        with transaction.atomic():
            document.save(force_insert=True)
    except IntegrityError as error:
        if Document.with_deleted.filter(pk=id_).exists():
            raise UploadError("exists", "There is a document of this id already.") from error
        if not collection.documents.filter(name=document.name, deleted_at=None).exists():
            raise
        return _document(collection, name, user, id_)  # the name is taken since
    return document


def _is_same(one: DocumentVersion, other: DocumentVersion) -> bool:
    return one.sha256 == other.sha256 and one.chunk_starts == other.chunk_starts


def _known_size(file: File[bytes]) -> int:
    """Return a file's size as far as it is known before it is read."""
    try:
        return file.size
    except AttributeError:
        return 0


def delete_file(sender: type[DocumentVersion], instance: DocumentVersion, **_: Any) -> None:
    """Delete the stored file of a version that is deleted, once that is committed."""
    if instance.file:
        storage, stored = instance.file.storage, str(instance.file.name)
        transaction.on_commit(lambda: storage.delete(stored))
