"""What goes wrong, as one family of exceptions."""

from __future__ import annotations

from typing import Any


class RagError(Exception):
    """Something asked of the site was refused, or failed.

    `message` is for people; `code` is for programs; `status` is the HTTP status, 0 where there is
    none; `retry_after` says in seconds when the same may succeed, None where that is not known.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        status: int = 0,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.retry_after = retry_after


class BadRequestError(RagError):
    """What was asked is wrong in itself; the message names the field."""


class NotSignedInError(RagError):
    """There is no token, or it is not in force."""


class NotAllowedError(RagError):
    """The token, or its person, may not do this."""


class NotFoundError(RagError):
    """There is no such thing, or it is somebody else's."""


class BusyError(RagError):
    """The conversation is being answered, or what was sent is there already."""


class RateLimitedError(RagError):
    """What may be used is used up; `retry_after` says until when."""


class UnavailableError(RagError):
    """The site cannot be reached, or cannot answer now."""


class NotAvailableError(RagError, ValueError):
    """An option is for what the site cannot do yet; nothing was asked."""


class AnswerFailedError(RagError):
    """The answer broke off; `text` is what there was of it."""

    def __init__(self, message: str, *, text: str = "", **details: Any) -> None:
        super().__init__(message, **details)
        self.text = text


class DocumentFailedError(RagError):
    """A document was taken, and could not be read; `document_id` is its id."""

    def __init__(self, message: str, *, document_id: str = "", **details: Any) -> None:
        super().__init__(message, **details)
        self.document_id = document_id


KINDS: dict[int, type[RagError]] = {
    400: BadRequestError,
    401: NotSignedInError,
    403: NotAllowedError,
    404: NotFoundError,
    409: BusyError,
    413: BadRequestError,
    415: BadRequestError,
    422: BadRequestError,
    429: RateLimitedError,
}


def of_status(
    status: int, message: str, code: str = "", retry_after: float | None = None
) -> RagError:
    """Return the error that an HTTP status means."""
    kind = KINDS.get(status, UnavailableError if status >= 500 else RagError)
    return kind(message, code=code, status=status, retry_after=retry_after)
