"""A file is added as a document, a zip as many: each file in it by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files import File

from retrieval.ingestion.archive_members import is_archive, members, opened
from retrieval.ingestion.uploads import Upload, UploadError, add_document, not_allowed, too_large

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from retrieval.models import Collection


@dataclass(frozen=True)
class Taken:
    """What became of a file, or of one in an archive; either `upload` or `error` is set."""

    path: str
    upload: Upload | None = None
    error: UploadError | None = None


def add_file(  # noqa: PLR0913 - as add_document
    collection: Collection,
    name: str,
    file: File[bytes],
    user: User | None = None,
    *,
    folder: str = "",
    metadata: dict[str, Any] | None = None,
    unpack: bool = True,
) -> Iterator[Taken]:
    """Add a file to a collection or, if it is an archive, every file in it; yield each as it goes.

    One that is refused does not keep the others out. Files of an archive stand in the folders they
    have there, below `folder`.
    """

    def take(path: str, name: str, file: File[bytes], folder: str) -> Taken:
        try:
            upload = add_document(collection, name, file, user, folder=folder, metadata=metadata)
        except UploadError as error:
            return Taken(path, error=error)
        return Taken(path, upload=upload)

    path = f"{folder}/{name}" if folder else name
    stream = file.file or file
    if not (unpack and is_archive(stream, name)):
        yield take(path, name, file, folder)
        return
    try:
        if file.size > settings.UPLOAD_MAX_BYTES:
            raise too_large()
        if settings.UPLOAD_TYPES and "zip" not in settings.UPLOAD_TYPES:
            raise not_allowed()
        with opened(stream) as archive:
            for member in members(archive):
                place = f"{path}/{member.path}"
                try:
                    with member.content(archive) as content:
                        inner = "/".join(part for part in (folder, member.folder) if part)
                        yield take(place, member.name, content, inner)
                except UploadError as error:
                    yield Taken(place, error=error)
    except UploadError as error:
        yield Taken(path, error=error)
