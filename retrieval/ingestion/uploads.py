"""Taking a file in: stored as it streams by, made a version of a document, and queued."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.files import File
from django.db import transaction

from retrieval.audit.recording import record
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
) -> Upload:
    """Store a file as the newest version of the document of that name, and queue it.

    Folders in `name` are dropped; `folder` is where the document stands within its collection.
    `metadata`, as `metadata.checked` returns it, is set over what the document has.
    Raises UploadError for a file that is too large, of a kind that is not taken, has no usable
    name, or is more than `user` may upload.
    """
    name = clean_name(name, folder)
    try:
        limits.check(user, _known_size(file))
    except QuotaError as error:
        raise over_quota(error) from error
    version = DocumentVersion()
    store(version, name, file)
    try:
        upload = _register(collection, name, version, user, metadata or {})
    except QuotaError as error:  # another upload was faster
        discard(version, name)
        raise over_quota(error) from error
    except BaseException:
        discard(version, name)
        raise
    if upload.unchanged:
        discard(version, name)
    return upload


def _register(
    collection: Collection,
    name: str,
    version: DocumentVersion,
    user: User | None,
    metadata: dict[str, Any],
) -> Upload:
    with transaction.atomic():
        document, _ = Document.objects.select_for_update(no_key=True).get_or_create(
            collection=collection,
            name=name,
            defaults={"title": title_of(name), "uploaded_by": user},
        )
        if metadata:
            document.metadata |= metadata
            document.save(update_fields=["metadata"])
        newest = document.versions.defer("text").exclude(stage=Stage.FAILED).first()
        if newest is not None and newest.sha256 == version.sha256:
            return Upload(document, newest, unchanged=True)
        last = document.versions.order_by("-number").values_list("number", flat=True).first()
        version.document = document
        version.number = (last or 0) + 1
        version.save(force_insert=True)
        defer_ingestion(version)
        limits.charge(user, version)
        record(user, "document.uploaded", document, version=version.number)
    return Upload(document, version, unchanged=False)


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
