"""Following an answer over connections that break: every frame once, and in order."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from uuid import UUID

import tenacity

from chat.client.errors import RagError, UnavailableError
from chat.frames import TERMINAL, Error, Frame, Snapshot

Open = Callable[["UUID | None", int], AsyncGenerator[Frame]]
"""Opens a stream of frames: of that run (None: it has not begun) and behind that number."""

FIRST_ATTEMPTS = 4
# How long it is tried to come back to an answer that has begun.
RETURN_SECONDS = 120.0
# Not stamina's, which tells of each try in the log of a program that is not ours.
BACKOFF = tenacity.wait_exponential_jitter(multiplier=0.1, max=5, jitter=0.2)


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
    retries = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception(_may_return),
        stop=(
            tenacity.stop_after_delay(RETURN_SECONDS)
            if run
            else tenacity.stop_after_attempt(FIRST_ATTEMPTS)
        ),
        wait=_wait,
        reraise=True,
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


def _may_return(error: BaseException) -> bool:
    """Whether it is worth another try."""
    return isinstance(error, UnavailableError) and error.code != "other_loop"


def _wait(state: tenacity.RetryCallState) -> float:
    """Return the seconds to the next try, as the site says if it does."""
    error = state.outcome.exception() if state.outcome else None
    said = error.retry_after if isinstance(error, UnavailableError) else None
    return said or BACKOFF(state)


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
