"""Taking a file in: stored as it streams by, made a version of a document, and queued."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.template.defaultfilters import filesizeformat

from retrieval.ingestion.file_kinds import is_allowed
from retrieval.ingestion.pipeline import title_of
from retrieval.ingestion.tasks import defer_ingestion
from retrieval.models import Collection, Document, DocumentVersion, Stage

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NAME_BYTES = 255


class UploadError(Exception):
    """A file is not taken in; `code` is one of docs/uploads.md, `message` is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


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
    Raises UploadError for a file that is too large, of a kind that is not taken, or has no usable
    name.
    """
    name = clean_name(name, folder)
    version = DocumentVersion()
    content = _Metered(file, name)
    field = version.file
    try:
        field.save(name, content, save=False)
        version.sha256, version.size = content.sha256.hexdigest(), content.length
        upload = _register(collection, name, version, user, metadata or {})
    except BaseException:
        _discard(version, name)
        raise
    if upload.unchanged:
        _discard(version, name)
    return upload


def _register(
    collection: Collection,
    name: str,
    version: DocumentVersion,
    user: User | None,
    metadata: dict[str, Any],
) -> Upload:
    with transaction.atomic():
        document, _ = Document.objects.select_for_update().get_or_create(
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
    return Upload(document, version, unchanged=False)


def split_path(path: str) -> tuple[str, str]:
    """Return the folder and the name of a path within a folder that is uploaded."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    return folder.strip("/"), name


def clean_name(name: str, folder: str = "") -> str:
    """Return a file's name without its folders and control characters, cut to 255 bytes.

    `folder`, cleaned likewise, goes before it.

    Raises UploadError if nothing is left.
    """
    base = unicodedata.normalize("NFC", name.replace("\\", "/").rsplit("/", 1)[-1])
    base = "".join(c for c in base if unicodedata.category(c) not in {"Cc", "Cs", "Co", "Cn"})
    base = base.strip().strip("\u200e\u200f\u202a-\u202e")
    if base in {"", ".", ".."}:
        raise UploadError("bad-name", "This file has no usable name.")
    folders = [clean_name(part) for part in folder.split("/") if part.strip(". ")]
    base = "/".join([*folders, base])
    if len(base.encode()) <= NAME_BYTES:
        return base
    stem, dot, suffix = base.rpartition(".")
    if not stem or len(suffix) > 10:
        return base.encode()[:NAME_BYTES].decode(errors="ignore")
    tail = f"{dot}{suffix}"
    return stem.encode()[: NAME_BYTES - len(tail.encode())].decode(errors="ignore") + tail


def delete_file(sender: type[DocumentVersion], instance: DocumentVersion, **_: Any) -> None:
    """Delete the stored file of a version that is deleted, once that is committed."""
    if instance.file:
        storage, stored = instance.file.storage, str(instance.file.name)
        transaction.on_commit(lambda: storage.delete(stored))


def _discard(version: DocumentVersion, name: str) -> None:
    """Delete what was stored, or half stored, for a version that is not to be."""
    field = version._meta.get_field("file")
    version.file.storage.delete(version.file.name or field.generate_filename(version, name))


class _Metered(File):  # type: ignore[type-arg]
    """A file that is hashed and measured while it is copied.

    It does not pass on `temporary_file_path`: storage would move the file unseen.
    """

    def __init__(self, file: File[bytes], name: str) -> None:
        super().__init__(file.file or file, file.name)
        self.label = name
        self.sha256 = hashlib.sha256()
        self.length = 0

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the file's bytes; raises UploadError above the limit, or for their kind."""
        for chunk in super().chunks(chunk_size):
            if not self.length and not is_allowed(chunk, self.label):
                raise not_allowed()
            self.length += len(chunk)
            if self.length > settings.UPLOAD_MAX_BYTES:
                raise too_large()
            self.sha256.update(chunk)
            yield chunk


def too_large() -> UploadError:
    """Return the error for a file above UPLOAD_MAX_BYTES."""
    limit = filesizeformat(settings.UPLOAD_MAX_BYTES).replace("\xa0", " ")
    return UploadError("too-large", f"This file is larger than {limit}, the most that is taken.")


def not_allowed() -> UploadError:
    """Return the error for a file of a kind that is not in UPLOAD_TYPES."""
    kinds = ", ".join(kind.upper() for kind in settings.UPLOAD_TYPES)
    return UploadError("type-not-allowed", f"Files of this kind are not taken here, only {kinds}.")
