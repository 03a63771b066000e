"""The limits of an upload, kept while a request streams in."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler
from django.template.defaultfilters import filesizeformat

from retrieval.ingestion.file_kinds import is_allowed
from retrieval.ingestion.uploads import UploadError, not_allowed, too_large
from retrieval.limits.uploads import measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import AnonymousUser, User
    from django.http import HttpRequest


class RequestTooLargeError(RequestDataTooBig):
    """A request above UPLOAD_MAX_REQUEST_BYTES; its text is for people."""


class LimitedUploadHandler(TemporaryFileUploadHandler):
    """Puts files on disk, and drops those above the limits as they come in.

    `refused` are the names of these, each with the reason. Reading the request raises
    RequestTooLargeError as soon as it is known to be larger than all of it may be.
    """

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.refused: list[tuple[str, str]] = []
        self.total = 0

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: Mapping[str, Any],  # noqa: N803 - Django's name
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        """Refuse a request that says it is too large before anything of it is read."""
        if content_length > settings.UPLOAD_MAX_REQUEST_BYTES:
            raise request_too_large()

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Start measuring a file."""
        self.received = 0
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        """Write a piece of a file, unless it is one too many."""
        if not self.received and not is_allowed(raw_data, self.file_name or ""):
            self._drop(not_allowed())
        self.received += len(raw_data)
        self.total += len(raw_data)
        if self.total > settings.UPLOAD_MAX_REQUEST_BYTES:
            self.file.close()  # those that are complete Django closes
            raise request_too_large()
        if self.received > settings.UPLOAD_MAX_BYTES:
            self._drop(too_large())
        return super().receive_data_chunk(raw_data, start)

    def _drop(self, error: UploadError) -> None:
        self.refused.append((self.file_name or "", error.message))
        self.file.close()
        raise SkipFile


def request_too_large() -> RequestTooLargeError:
    """Return the error for a request above UPLOAD_MAX_REQUEST_BYTES."""
    limit = _size(settings.UPLOAD_MAX_REQUEST_BYTES)
    return RequestTooLargeError(
        f"These files are larger than {limit} together, the most that can be uploaded at once. "
        "Upload them in several goes."
    )


def described(user: User | AnonymousUser) -> dict[str, Any]:
    """Return the limits for a page: as numbers, and in sentences for people.

    `own` is what `user` used of what they may upload, "" where that is unlimited.
    """
    kinds = list(settings.UPLOAD_TYPES)
    file, request = _size(settings.UPLOAD_MAX_BYTES), _size(settings.UPLOAD_MAX_REQUEST_BYTES)
    most = f"At most {settings.UPLOAD_MAX_FILES:,} files at once, of {file} each"
    text = f"{most} and {request} together"
    return {
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "max_files": settings.UPLOAD_MAX_FILES,
        "max_request_bytes": settings.UPLOAD_MAX_REQUEST_BYTES,
        "types": kinds,
        "accept": ",".join(f".{kind}" for kind in kinds),
        "text": f"{text}; only {', '.join(kind.upper() for kind in kinds)}."
        if kinds
        else f"{text}.",
        "own": _own(user),
    }


def _own(user: User | AnonymousUser) -> str:
    today, stored = measure(user)
    said = []
    if today.is_limited:
        said.append(f"Uploaded today: {today.words} files.")
    if stored.is_limited:
        said.append(f"Your files take {stored.words}.")
    return " ".join(said)


def _size(count: int) -> str:
    return filesizeformat(count).replace("\xa0", " ")
