"""Ordering the candidates anew, by a closer look at the question and each passage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval import backends
from retrieval.search import operators
from retrieval.search.hits import passages

if TYPE_CHECKING:
    from retrieval.backends.base import Query
    from retrieval.search.hits import Hit
    from retrieval.search.settings import SearchSettings


async def rerank(
    query: Query, hits: list[Hit], settings: SearchSettings, spare: int = 0
) -> list[Hit]:
    """Return the best `top_n` of the hits, at most `limit`, with the score `reranked`.

    They begin at `offset`, and `spare` more are returned to choose among. Without a reranker the
    order stays. Raises BackendError if the reranker fails.
    """
    reranker = backends.reranker() if settings.rerank else None
    kept = window(settings, spare)
    if reranker is None or not hits:
        return hits[kept]
    query = operators.plain(query, settings)
    ranked = await reranker.rerank(query, passages(hits), kept.stop)
    return [hits[each.position].scored("reranked", each.relevance_score) for each in ranked[kept]]


def window(settings: SearchSettings, spare: int = 0) -> slice:
    """Return which of the hits, best first, are kept: at most `limit` from `offset` on."""
    return slice(settings.offset, settings.offset + min(settings.limit, settings.top_n) + spare)
