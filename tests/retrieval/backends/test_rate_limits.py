"""Keeping to an embedding provider's limits."""

from __future__ import annotations

import asyncio

import pytest
from pytest_django import Settings

from retrieval.backends.openai import OpenAIEmbedder
from retrieval.backends.rate_limits import RateLimits, SharedLimits, limiter
from tests.provider import Provider


async def waits(limits: RateLimits, tokens: int) -> bool:
    """Whether a request has to wait."""
    try:
        async with asyncio.timeout(0.01):
            await limits.take(tokens)
    except TimeoutError:
        return True
    return False


async def test_without_limits_nothing_waits(settings: Settings) -> None:
    settings.EMBEDDING_REQUESTS_PER_MINUTE = settings.EMBEDDING_TOKENS_PER_MINUTE = 0
    limits = RateLimits(1)
    assert not any([await waits(limits, 10**9) for _ in range(100)])


async def test_requests_are_limited(settings: Settings) -> None:
    """A twelfth of a minute's at once, then no more than come back."""
    settings.EMBEDDING_REQUESTS_PER_MINUTE = 60
    limits = RateLimits(1)
    assert [await waits(limits, 1) for _ in range(6)] == [False] * 5 + [True]


async def test_tokens_are_limited(settings: Settings) -> None:
    """A batch fits in however small the limit is, and the next one waits for it."""
    settings.EMBEDDING_TOKENS_PER_MINUTE = 6000
    settings.EMBEDDING_BATCH_TOKENS = 8000
    limits = RateLimits(1)
    assert [await waits(limits, tokens) for tokens in (8000, 1000)] == [False, True]


async def test_workers_share_the_limits(settings: Settings) -> None:
    """With two workers each keeps to half of them."""
    settings.EMBEDDING_REQUESTS_PER_MINUTE = 120
    shared = SharedLimits()
    await shared.share(2)
    limits = await shared._limits.get()
    assert [await waits(limits, 1) for _ in range(6)] == [False] * 5 + [True]
    await shared.share(1)
    assert await shared._limits.get() is not limits


async def test_rate_is_the_limit() -> None:
    """However much goes through at once, a minute lets through what the limit says."""
    found = limiter(600, at_least=1)
    assert found is not None
    assert found.max_rate / found.time_period * 60 == pytest.approx(600)


async def test_every_request_is_counted(
    provider: Provider, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of passages with their tokens; a question waits for nobody."""
    taken: list[int] = []

    async def take(tokens: int) -> None:
        taken.append(tokens)

    monkeypatch.setattr("retrieval.backends.rate_limits.shared.take", take)
    embedder = OpenAIEmbedder("nomic-embed-text", "secret", provider.url, dimensions=64)
    await embedder.embed_query("ducks")
    assert taken == []
    await embedder.embed_passages(["Ducks swim."] * 300)
    assert len(taken) == len(provider.requests) - 1 == 2
    assert sum(taken) == 300 * embedder.count_tokens("search_document: Ducks swim.")
