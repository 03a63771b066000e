"""Following an answer over connections that break: every frame once, and in order."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from uuid import UUID

import stamina

from chat.client.errors import RagError, UnavailableError
from chat.frames import TERMINAL, Error, Frame, Snapshot

Open = Callable[["UUID | None", int], AsyncGenerator[Frame]]
"""Opens a stream of frames: of that run (None: it has not begun) and behind that number."""

FIRST_ATTEMPTS = 4
# How long it is tried to come back to an answer that has begun.
RETURN_SECONDS = 120.0


async def follow(open_: Open, run: UUID | None = None, after: int = 0) -> AsyncGenerator[Frame]:
    """Yield the frames of an answer to its end, whatever becomes of the connections.

    Raises UnavailableError when it cannot be reached any more, RagError where it is refused.
    """
    while True:
        first, rest = await _connect(open_, run, after)
        async with aclosing(_joined(first, rest)) as frames:
            try:
                async for frame in frames:
                    if frame.seq and frame.seq <= after and not isinstance(frame, Snapshot):
                        continue
                    run, after = frame.run or run, frame.seq or after
                    yield frame
                    if isinstance(frame, TERMINAL):
                        return
            except UnavailableError as error:
                if not _may_return(error):
                    raise


async def _connect(
    open_: Open, run: UUID | None, after: int
) -> tuple[Frame, AsyncGenerator[Frame]]:
    """Return the first frame of a stream that holds, and the stream."""
    attempts, seconds = (None, RETURN_SECONDS) if run else (FIRST_ATTEMPTS, None)
    retries = stamina.retry_context(
        on=_may_return, attempts=attempts, timeout=seconds, wait_initial=0.1, wait_jitter=0.2
    )
    async for attempt in retries:
        with attempt:
            frames = _sound(open_(run, after))
            try:
                return await anext(frames), frames
            except StopAsyncIteration as error:
                message = "The connection to the site was lost."
                raise UnavailableError(message, code="connection_lost") from error
            except BaseException:
                await frames.aclose()
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _may_return(error: Exception) -> bool | float:
    """Whether it is worth another try, or after how many seconds."""
    if not isinstance(error, UnavailableError) or error.code == "other_loop":
        return False
    return error.retry_after or True


async def _sound(frames: AsyncGenerator[Frame]) -> AsyncGenerator[Frame]:
    """Yield frames of the run. Raises RagError for one that says that it cannot be read."""
    async with aclosing(frames):
        async for frame in frames:
            if isinstance(frame, Error) and frame.run is None:
                kind = UnavailableError if frame.recoverable else RagError
                raise kind(frame.message, code=frame.code)
            yield frame


async def _joined(first: Frame, rest: AsyncGenerator[Frame]) -> AsyncGenerator[Frame]:
    async with aclosing(rest):
        yield first
        async for frame in rest:
            yield frame
