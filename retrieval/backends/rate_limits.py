"""How many requests and tokens a minute the embedding provider is sent, by all workers together."""

from __future__ import annotations

from aiolimiter import AsyncLimiter
from django.conf import settings

from retrieval.per_loop import PerLoop

# A limit of a minute may be used up in this part of it, and then no faster than it comes back.
BURST = 1 / 12


class RateLimits:
    """The limits of one process: its share of those in the settings."""

    def __init__(self, workers: int) -> None:
        requests = settings.EMBEDDING_REQUESTS_PER_MINUTE / workers
        tokens = settings.EMBEDDING_TOKENS_PER_MINUTE / workers
        self._requests = limiter(requests, at_least=1)
        # A batch has to fit in, however small the limit is.
        self._tokens = limiter(tokens, at_least=settings.EMBEDDING_BATCH_TOKENS)

    async def take(self, tokens: int) -> None:
        """Wait until a request of that many tokens is within the limits."""
        if self._requests:
            await self._requests.acquire()
        if self._tokens:
            await self._tokens.acquire(min(tokens, self._tokens.max_rate))


def limiter(a_minute: float, at_least: float) -> AsyncLimiter | None:
    """Return what lets that much through in a minute, `at_least` at once; None if it is 0."""
    if not a_minute:
        return None
    burst = max(a_minute * BURST, at_least)
    return AsyncLimiter(burst, 60 * burst / a_minute)


class SharedLimits:
    """The limits in force; they change when a worker comes or goes."""

    def __init__(self) -> None:
        self._workers = 1
        self._limits = PerLoop(lambda: RateLimits(self._workers), _nothing)

    async def share(self, workers: int) -> None:
        """Keep to a share of the limits, one of as many as there are workers."""
        if workers != self._workers:
            self._workers = max(1, workers)
            await self._limits.aclose()

    async def take(self, tokens: int) -> None:
        """Wait until a request of that many tokens is within the limits."""
        await (await self._limits.get()).take(tokens)


async def _nothing(limits: RateLimits) -> None:
    """Close nothing: limits are only numbers."""


shared = SharedLimits()
