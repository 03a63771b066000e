"""A file on its way in: its name cleaned, and measured, hashed and checked as it streams by."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator

from django.conf import settings
from django.core.files import File
from django.template.defaultfilters import filesizeformat

from retrieval.ingestion.file_kinds import is_allowed
from retrieval.limits.uploads import QuotaError
from retrieval.models import DocumentVersion
from retrieval.text.cleaning import visible

NAME_BYTES = 255


class UploadError(Exception):
    """A file is not taken in; `code` is one of docs/uploads.md, `message` is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def store(version: DocumentVersion, name: str, file: File[bytes]) -> None:
    """Store a file for a version, which is not saved, with its size and hash.

    Raises UploadError for a file that is too large or of a kind that is not taken; what was stored
    of it is deleted.
    """
    content = _Metered(file, name)
    # A worker that was killed may have left a part of it.
    discard(version, name)
    try:
        version.file.save(name, content, save=False)
    except BaseException:
        discard(version, name)
        raise
    version.sha256, version.size = content.sha256.hexdigest(), content.length


def discard(version: DocumentVersion, name: str) -> None:
    """Delete what was stored, or half stored, for a version that is not to be."""
    field = version._meta.get_field("file")
    version.file.storage.delete(version.file.name or field.generate_filename(version, name))


def split_path(path: str) -> tuple[str, str]:
    """Return the folder and the name of a path within a folder that is uploaded."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    return folder.strip("/"), name


def clean_name(name: str, folder: str = "") -> str:
    """Return a file's name without its folders and what hides in it, cut to 255 bytes.

    That is control characters, overrides of direction and the like, and dots and spaces at the end,
    which other systems leave out. `folder`, cleaned likewise, goes before it.

    Raises UploadError if nothing is left.
    """
    base = unicodedata.normalize("NFC", name.replace("\\", "/").rsplit("/", 1)[-1])
    base = "".join(
        c for c in visible(base) if unicodedata.category(c) not in {"Cc", "Cs", "Co", "Cn"}
    )
    base = base.strip().rstrip(". \u2028\u2029")
    if not base:
        raise UploadError("bad-name", "This file has no usable name.")
    folders = [clean_name(part) for part in folder.split("/") if part.strip(". ")]
    base = "/".join([*folders, base])
    if len(base.encode()) <= NAME_BYTES:
        return base
    stem, dot, suffix = base.rpartition(".")
    if not stem or len(suffix) > 10:
        stem, dot, suffix = base, "", ""
    # Long paths of different files may begin alike.
    mark = f"~{hashlib.sha256(base.encode()).hexdigest()[:8]}" if folders else ""
    tail = f"{mark}{dot}{suffix}"
    return stem.encode()[: NAME_BYTES - len(tail.encode())].decode(errors="ignore") + tail


def too_large() -> UploadError:
    """Return the error for a file above UPLOAD_MAX_BYTES."""
    limit = filesizeformat(settings.UPLOAD_MAX_BYTES).replace("\xa0", " ")
    return UploadError("too-large", f"This file is larger than {limit}, the most that is taken.")


def not_allowed() -> UploadError:
    """Return the error for a file of a kind that is not in UPLOAD_TYPES."""
    kinds = ", ".join(kind.upper() for kind in settings.UPLOAD_TYPES)
    return UploadError("type-not-allowed", f"Files of this kind are not taken here, only {kinds}.")


def over_quota(error: QuotaError) -> UploadError:
    """Return the error for a file that is more than its uploader may have."""
    return UploadError("quota-exceeded", str(error))


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
