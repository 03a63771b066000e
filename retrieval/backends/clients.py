"""What provider backends share: timeouts, server-sent events, errors."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

import stamina
from django.conf import settings

from retrieval.backends.base import BackendError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

Item = TypeVar("Item")

LONGEST_LINE = 2**20
TOO_LONG = ("context length", "context_length", "context window", "context size", "too many tokens",
            "too long", "maximum context", "exceeds the limit")  # fmt: skip
MESSAGES = {
    "unreachable": "The provider could not be reached.",
    "timeout": "The provider took too long to answer.",
    "dropped": "The connection to the provider broke off in the middle of the answer.",
    "malformed": "The provider sent something that could not be read.",
    "empty": "The model gave an empty answer.",
    "content_filter": "The provider's content filter stopped the answer.",
    "unauthorized": "The provider refused the key.",
    "rate_limited": "The provider limits how many requests it takes.",
    "context_too_long": "The question and its passages are too long for the model.",
    "bad_request": "The provider did not accept the request; the model's name may be wrong, or a"
    " parameter it does not take.",
    "provider_error": "The provider had an error.",
}
LASTING = {"unauthorized", "bad_request", "context_too_long", "content_filter"}


async def timed(stream: AsyncGenerator[Item]) -> AsyncGenerator[Item]:
    """Yield from a stream that may be silent for only so long, before and between its items.

    Raises BackendError (timeout). Closes the stream however it ends.
    """
    now = asyncio.get_running_loop().time
    patience = settings.PROVIDER_CONNECT_TIMEOUT + settings.PROVIDER_FIRST_TOKEN_TIMEOUT
    # The timer is not set anew for each token, which would cost more than to read it: silence
    # may last a tenth longer.
    slack = settings.PROVIDER_TOKEN_TIMEOUT / 10
    heard = -slack
    try:
        async with aclosing(stream), asyncio.timeout(patience) as silence:
            async for item in stream:
                if now() - heard >= slack:
                    heard = now()
                    silence.reschedule(heard + settings.PROVIDER_TOKEN_TIMEOUT + slack)
                yield item
    except TimeoutError as exc:
        raise error("timeout") from exc


class EventLines:
    """Takes the bytes of an event stream as they come, wherever they are cut."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return what follows `data:` in the lines that are whole; comments are left out.

        Raises BackendError for a line without end.
        """
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise error("malformed")
        return [line[5:].strip() for line in lines if line.startswith(b"data:")]


def error(code: str, retry_after: float | None = None) -> BackendError:
    """Return the error of a code; it can be retried unless the same would happen again."""
    return BackendError(MESSAGES[code], code not in LASTING, code=code, retry_after=retry_after)


def status_error(status: int, headers: Mapping[str, str], said: str) -> BackendError:
    """Return what an HTTP status means; what the provider `said` is looked at, never shown."""
    code = _code_of(status, said.lower())
    if code == "rate_limited" and "quota" in said.lower():
        return BackendError("The provider's quota is used up.", retryable=False, code=code)
    return error(code, retry_after(headers))


def _code_of(status: int, said: str) -> str:
    code = {401: "unauthorized", 403: "unauthorized", 408: "timeout", 413: "context_too_long"}
    if status == 429 or status in code:
        return code.get(status, "rate_limited")
    if status >= 500:
        return "provider_error"
    if any(phrase in said for phrase in TOO_LONG):
        return "context_too_long"
    return "content_filter" if "content" in said and "filter" in said else "bad_request"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header, which may be a number or a date."""
    value = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def worth_retrying(exc: Exception) -> bool | float:
    """Tell stamina whether to try again, and when, if the provider said so."""
    if not isinstance(exc, BackendError) or not exc.retryable:
        return False
    return True if exc.retry_after is None else exc.retry_after


def attempts(*, patient: bool) -> Any:
    """Return stamina's attempts: many for the worker's batches, few while a person waits."""
    return stamina.retry_context(
        on=worth_retrying, attempts=6 if patient else 2, timeout=120 if patient else 5
    )
