"""The files in a zip, one by one, as streams; nothing that the zip says of itself is trusted."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, cast

from django.conf import settings
from django.core.files import File
from django.template.defaultfilters import filesizeformat

from retrieval.ingestion.archive_names import names_of
from retrieval.ingestion.file_kinds import EMPTY_ZIP, ZIP, kind_of
from retrieval.ingestion.uploads import UploadError, too_large

# What a zip holds that is a document itself.
DOCUMENT_PARTS = {"[Content_Types].xml", "mimetype", "Index.zip", "Index/Document.iwa"}
# Bytes of an archive's directory for each file that it may hold, names and all.
DIRECTORY_BYTES_A_FILE = 512
# More than this from one file, at more than this ratio, is a bomb.
BOMB_BYTES, BOMB_RATIO = 32 * 2**20, 200
# What Python unpacks in pieces of bounded size.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What programs put there for themselves.
PASSED_OVER = {"__MACOSX", "Thumbs.db", "desktop.ini"}
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError)


def is_archive(stream: IO[bytes], name: str) -> bool:
    """Whether a file is a zip that is no document itself, as Office files and EPUBs are.

    What is damaged counts as one if it begins as a zip and is called so.
    """
    stream.seek(0)
    head = stream.read(len(ZIP))
    try:
        if head not in (ZIP, EMPTY_ZIP) or PurePosixPath(name).suffix.lower() not in {"", ".zip"}:
            return False
        with opened(stream) as archive:
            return not DOCUMENT_PARTS & archive.NameToInfo.keys()
    except UploadError:
        return True
    finally:
        stream.seek(0)


@dataclass(frozen=True)
class Member:
    """A file in an archive, or the reason why it is not taken."""

    path: str
    info: zipfile.ZipInfo
    error: UploadError | None = None

    @property
    def name(self) -> str:
        """Its name, without its folder."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder it is in, within the archive."""
        return self.path.rpartition("/")[0]

    @contextmanager
    def content(self, archive: zipfile.ZipFile) -> Iterator[File[bytes]]:
        """Open the file to be read as a stream. Raises UploadError."""
        if self.error is not None:
            raise self.error
        try:
            with cast("zipfile.ZipExtFile", archive.open(self.info)) as stream:
                if kind_of(stream.peek(4)[:4], self.name) == "zip":
                    raise UploadError("unsupported", "An archive in an archive is not unpacked.")
                yield File(cast("IO[bytes]", stream), self.name)
        except BROKEN as error:
            message = "This file is damaged, or its archive is."
            raise UploadError("corrupt", message) from error


def members(archive: zipfile.ZipFile) -> Iterator[Member]:
    """Yield the files of an archive. Raises UploadError if there are none, or too many."""
    infos = archive.infolist()
    files = [
        (info, "/".join(_parts(name)), name)
        for info, name in zip(infos, names_of(infos), strict=True)
        if not name.endswith(("/", "\\")) and not _is_passed_over(name)
    ]
    if not files:
        raise UploadError("empty", "There are no files in this archive.")
    if len(files) > settings.ARCHIVE_MAX_FILES:
        raise _too_many()
    seen: set[str] = set()
    left = settings.ARCHIVE_MAX_BYTES
    for info, path, name in files:
        member = Member(path, info, _reason(info, name))
        if member.error is None and info.file_size > left:
            limit = filesizeformat(settings.ARCHIVE_MAX_BYTES).replace("\xa0", " ")
            text = f"The files of this archive unpack to more than {limit}, the most that is taken."
            member = Member(path, info, UploadError("too-large", text))
        if member.error is None:
            left -= info.file_size
            if path in seen:
                text = "The archive has another file of this name, which was taken."
                member = Member(path, info, UploadError("duplicate", text))
            seen.add(path)
        yield member


def _reason(info: zipfile.ZipInfo, name: str) -> UploadError | None:  # noqa: PLR0911 - one each
    """Say why a file of an archive is not even opened, if so."""
    mode = info.external_attr >> 16
    if name.startswith(("/", "\\")) or ".." in _parts(name) or name[1:2] == ":":
        return UploadError("bad-name", "The name of this file leads out of the archive.")
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        return UploadError("unsupported", "This is a link or a device, not a file.")
    if info.flag_bits & 0x41:
        return UploadError("encrypted", "This file is protected by a password within the archive.")
    if info.file_size > settings.UPLOAD_MAX_BYTES:
        return too_large()
    if info.file_size > BOMB_BYTES and info.file_size > BOMB_RATIO * info.compress_size:
        return UploadError("too-large", "This file unpacks to very much more than it should.")
    if info.compress_type not in METHODS:
        return UploadError("unsupported", "This file is packed in a way that is not supported.")
    return None


def _parts(name: str) -> list[str]:
    return [part for part in name.replace("\\", "/").split("/") if part not in {"", "."}]


def _is_passed_over(name: str) -> bool:
    parts = _parts(name)
    hidden = any(part.startswith(".") and part != ".." for part in parts)
    return hidden or not PASSED_OVER.isdisjoint(parts)


def _too_many() -> UploadError:
    most = f"{settings.ARCHIVE_MAX_FILES:,}"
    return UploadError("too-many", f"This archive holds more than {most} files. Divide it.")


@contextmanager
def opened(stream: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """Open an archive. Raises UploadError."""
    try:
        archive = zipfile.ZipFile(cast("IO[bytes]", _Bounded(stream)))
    # A name that is said to be UTF-8 but is not is a ValueError, and so are impossible offsets.
    except (*BROKEN, ValueError) as error:
        raise UploadError("corrupt", "This archive is damaged or incomplete.") from error
    with archive:
        yield archive


class _Bounded:
    """A file that refuses to be read in one large piece, as a zip's directory is."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes. Raises UploadError if the archive's directory is too long."""
        if size > max(2**20, settings.ARCHIVE_MAX_FILES * DIRECTORY_BYTES_A_FILE):
            raise _too_many()
        return self._stream.read(size)
