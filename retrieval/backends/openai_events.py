"""The events of a streamed answer as OpenAI and its like send them, apart from any connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson

from retrieval.backends import clients
from retrieval.backends.base import Delta

if TYPE_CHECKING:
    from retrieval.backends.base import BackendError


class Answer:
    """What the events of an answer have said so far."""

    def __init__(self) -> None:
        self.complete = False
        self._answered = False
        self._finish = ""
        self._prompt_tokens = self._completion_tokens = 0

    def take(self, data: bytes) -> Delta | None:
        """Return what an event adds to the text. Raises BackendError."""
        if data == b"[DONE]":
            self.complete = True
            self._finish = self._finish or "stop"
            return None
        event = digest(data)
        self._answered = self._answered or bool(event.text)
        self._finish = event.finish_reason or self._finish
        self._prompt_tokens = event.prompt_tokens or self._prompt_tokens
        self._completion_tokens = event.completion_tokens or self._completion_tokens
        return Delta(event.text, event.thinking) if event.text or event.thinking else None

    def end(self) -> Delta:
        """Return the last delta. Raises BackendError if it is not a good end."""
        if self._finish == "content_filter":
            raise clients.error("content_filter")
        if not self._finish:
            raise clients.error("dropped")
        if not self._answered:
            raise clients.error("empty")
        return Delta(
            finish_reason="length" if self._finish == "length" else "stop",
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
        )


class Event(NamedTuple):
    """What one event adds to an answer."""

    text: str
    thinking: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


def digest(data: bytes) -> Event:
    """Read one event. Raises BackendError if it is an error, or cannot be read."""
    try:
        event = orjson.loads(data)
        if failure := event.get("error"):
            raise stream_error(failure)
        choice = (event.get("choices") or [{}])[0]
        delta = choice.get("delta") or {}
        usage = event.get("usage") or {}
        return Event(
            delta.get("content") or "",
            delta.get("reasoning_content") or delta.get("reasoning") or "",
            choice.get("finish_reason") or "",
            usage.get("prompt_tokens") or 0,
            usage.get("completion_tokens") or 0,
        )
    except (orjson.JSONDecodeError, AttributeError, LookupError, TypeError) as exc:
        raise clients.error("malformed") from exc


def stream_error(failure: object) -> BackendError:
    """Return what an error in the middle of a stream means."""
    status = failure.get("code") if isinstance(failure, dict) else None
    is_status = isinstance(status, int) and 400 <= status < 600
    return clients.status_error(int(status) if is_status and status else 500, {}, str(failure))
