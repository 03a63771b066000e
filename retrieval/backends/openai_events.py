"""The events of a streamed answer as OpenAI and its like send them, apart from any connection."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, NamedTuple

import orjson

from retrieval.backends import clients
from retrieval.backends.base import Delta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from retrieval.backends.base import BackendError


async def read(events: AsyncGenerator[bytes]) -> AsyncGenerator[Delta]:
    """Yield what the events of an answer say, and its end. Raises BackendError."""
    finish = ""
    answered = False
    prompt_tokens = completion_tokens = 0
    async with aclosing(events):
        async for data in events:
            if data == b"[DONE]":
                finish = finish or "stop"
                break
            event = digest(data)
            if event.text or event.thinking:
                yield Delta(event.text, event.thinking)
            answered = answered or bool(event.text)
            finish = event.finish_reason or finish
            prompt_tokens = event.prompt_tokens or prompt_tokens
            completion_tokens = event.completion_tokens or completion_tokens
    if finish == "content_filter":
        raise clients.error("content_filter")
    if not finish:
        raise clients.error("dropped")
    if not answered:
        raise clients.error("empty")
    yield Delta(
        finish_reason="length" if finish == "length" else "stop",
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
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
