"""Server-Sent Events: what they look like, and the responses that they come in."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connection
from django.http import StreamingHttpResponse

if TYPE_CHECKING:
    from django.http import HttpRequest

logger = logging.getLogger(__name__)

CONTENT_TYPE = "text/event-stream"
# Proxies end what is silent for a minute, most of them.
HEARTBEAT_SECONDS = 15.0
# Headers are sent with the first part: who comes back to an answer that pauses gets them soon.
FIRST_BEAT_SECONDS = 0.5
HEADERS = {
    # Nothing on the way may keep it, hold it back or pack it.
    "Cache-Control": "no-cache, no-store, no-transform",
    "X-Accel-Buffering": "no",
}


def to_json(value: object) -> str:
    """Return a value as JSON in one line of ASCII, which any reader of lines takes as one.

    Raises ValueError for numbers that JSON does not have.
    """
    return json.dumps(
        value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain
    )


def _plain(value: object) -> object:
    match value:
        case UUID():
            return str(value)
        case datetime():
            return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not for JSON.")


def event(data: str, *, event: str | None = None, id: str | None = None) -> bytes:  # noqa: A002
    """Return an event: a line for its name and its id, if it has them, and those of its data."""
    lines = [f"event: {event}"] if event is not None else []
    if id is not None:
        lines.append(f"id: {id}")
    lines += [f"data: {line}" for line in data.split("\n")]
    return ("\n".join(lines) + "\n\n").encode()


def comment(text: str = "keep-alive") -> bytes:
    """Return what readers pass over."""
    return f": {text}\n\n".encode()


class Stream(StreamingHttpResponse):
    """A response whose parts are closed the moment that its reader leaves, not some time later."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the parts, which Django lets go of without closing them.

        One that fails is the end: Daphne would leave the response open, and its reader waiting.
        """
        parts: Any = self._iterator  # type: ignore[attr-defined]
        async with aclosing(parts):
            try:
                async for part in parts:
                    yield part
            except Exception:  # the outermost edge: the response has begun
                logger.exception("A response broke off")


async def respond(
    request: HttpRequest,
    events: AsyncGenerator[bytes],
    *,
    heartbeat: bool = True,
    headers: Mapping[str, str] | None = None,
    content_type: str = CONTENT_TYPE,
) -> StreamingHttpResponse:
    """Return the response that streams `events`, which are closed when its reader leaves.

    While nothing comes, comments keep the connection alive. No connection to the database is held
    meanwhile.
    """
    await sync_to_async(let_go)()
    return Stream(
        beating(events) if heartbeat else events,
        content_type=content_type,
        headers={**HEADERS, **(headers or {})},
    )


def let_go() -> None:
    """Give the database connection of this request back, which is for others while it waits."""
    if not connection.in_atomic_block:
        connection.close()


async def beating(parts: AsyncGenerator[bytes], beat: bytes | None = None) -> AsyncGenerator[bytes]:
    """Yield the parts, and a beat whenever none came for a while; close them at the end.

    A beat is a comment if nothing else is given.
    """
    coming: asyncio.Future[bytes] | None = None
    patience = min(FIRST_BEAT_SECONDS, HEARTBEAT_SECONDS)
    async with aclosing(parts):
        try:
            while True:
                coming = coming or asyncio.ensure_future(anext(parts))
                done, _ = await asyncio.wait({coming}, timeout=patience)
                patience = HEARTBEAT_SECONDS
                if done:
                    with suppress(StopAsyncIteration):
                        part = coming.result()
                        coming = None
                        yield part
                        continue
                    return
                yield comment() if beat is None else beat
        finally:
            if coming is not None:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)


def last_event_id(request: HttpRequest) -> int | None:
    """Return the number of the last event that a reader says it has seen; None if it says none."""
    said = request.headers.get("Last-Event-ID", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 10 else None
