"""A generator's stream, tried again while nothing of it has been seen, then by the fallback."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import stamina
from django.conf import settings
from django.utils.translation import gettext

from chat.frames import WarningFrame
from retrieval import backends
from retrieval.backends.base import BackendError, Delta, GenerationRequest, Generator

logger = logging.getLogger(__name__)

# Waits in seconds, where the provider does not say how long.
FIRST_WAIT = 0.5
LONGEST_WAIT = 10.0
# No new attempt begins after this many seconds.
PATIENCE = 90.0
# Another generator would be told the same.
FINAL = {"content_filter", "context_too_long", "bad_request"}


async def stream(request: GenerationRequest) -> AsyncGenerator[Delta | WarningFrame]:
    """Yield the answer's deltas, and a warning before each further attempt.

    Once text has been yielded nothing is tried again. Raises BackendError.
    """
    fallback = backends.fallback()
    streamed = False
    try:
        async with aclosing(attempts(backends.generator(), request)) as pieces:
            async for piece in pieces:
                streamed = streamed or isinstance(piece, Delta)
                yield piece
    except BackendError as error:
        if streamed or fallback is None or error.code in FINAL:
            raise
        logger.warning("The fallback answers: %s", error.message)
    else:
        return
    yield WarningFrame(code="fallback", message=gettext("Another model answers instead."))
    # What one provider calls a model is nothing to another.
    async with aclosing(attempts(fallback, replace(request, model=None))) as pieces:
        async for piece in pieces:
            yield piece


async def attempts(
    generator: Generator, request: GenerationRequest
) -> AsyncGenerator[Delta | WarningFrame]:
    """Yield one generator's deltas, and a warning before each further attempt."""
    streamed = False

    def wait(error: Exception) -> bool | float:
        """Tell stamina whether to try again, and after how many seconds if the provider said."""
        if streamed or not isinstance(error, BackendError) or not error.retryable:
            return False
        return True if error.retry_after is None else min(error.retry_after, LONGEST_WAIT)

    async for attempt in stamina.retry_context(
        on=wait,
        attempts=settings.PROVIDER_ATTEMPTS,
        timeout=PATIENCE,
        wait_initial=FIRST_WAIT,
        wait_max=LONGEST_WAIT,
        wait_jitter=FIRST_WAIT,
    ):
        with attempt:
            try:
                async with aclosing(generator.stream(request)) as deltas:
                    async for delta in deltas:
                        # An answer begins with its first text.
                        streamed = streamed or bool(delta.text.strip() or delta.thinking)
                        if streamed:
                            yield delta
                if not streamed:
                    raise empty_answer()
            except BackendError as error:
                seconds = wait(error)
                if seconds is not False and attempt.num < settings.PROVIDER_ATTEMPTS:
                    yield trying_again(
                        error, attempt.num, float(error.retry_after or attempt.next_wait)
                    )
                raise


def empty_answer() -> BackendError:
    """Return the error of an answer without text."""
    return BackendError(gettext("The model gave an empty answer."), retryable=True, code="empty")


def trying_again(error: BackendError, retry: int, seconds: float) -> WarningFrame:
    """Say what went wrong, and when the next attempt begins at the earliest."""
    logger.warning("Attempt %d failed: %s", retry, error.message)
    return WarningFrame(
        code=error.code,
        message=gettext("{problem} Trying again…").format(problem=error.message),
        retry=retry,
        retry_in_ms=round(min(seconds, LONGEST_WAIT) * 1000),
    )
