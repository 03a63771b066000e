"""Finding candidates: vector and full-text search at the same time, fused."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from retrieval import backends
from retrieval.backends.base import BackendError, Query, Vectors
from retrieval.database import in_thread
from retrieval.search import fulltext, fusion, hits, vector

if TYPE_CHECKING:
    from retrieval.search.fulltext import WeightedWords
    from retrieval.search.hits import Hit
    from retrieval.search.scope import Scope
    from retrieval.search.settings import SearchSettings

Scores = dict[UUID, float]


@dataclass(frozen=True)
class Retrieved:
    """The hits, best first; `degraded` says why they were found by full text alone, if so."""

    hits: list[Hit]
    degraded: BackendError | None = None


async def retrieve(query: Query, scope: Scope, settings: SearchSettings) -> Retrieved:
    """Return the `top_k` chunks in scope that fit the query best.

    Raises BackendError if the query could not be embedded and full text is not searched, too.
    """
    if not settings.use_fulltext_search:
        semantic, _ = await _by_meaning(query, scope, settings)
        return Retrieved(await _load(semantic, {}, semantic, settings))
    if not settings.use_semantic_search:
        full_text, _ = await in_thread(_by_words, query, scope, settings.top_k)
        return Retrieved(await _load({}, full_text, full_text, settings))

    limit = settings.hybrid_settings.full_text_limit
    meaning, (full_text, words) = await asyncio.gather(
        _by_meaning_or_error(query, scope, settings), in_thread(_by_words, query, scope, limit)
    )
    if isinstance(meaning, BackendError):
        return Retrieved(await _load({}, full_text, full_text, settings), degraded=meaning)
    semantic, embedded = meaning
    semantic, full_text = await _complete(embedded, words, semantic, full_text)
    return Retrieved(
        await _load(semantic, full_text, _fuse(semantic, full_text, settings), settings)
    )


async def _by_meaning(
    query: Query, scope: Scope, settings: SearchSettings
) -> tuple[Scores, Vectors]:
    embedded = await backends.embedder().embed_query(query.text)
    return await in_thread(vector.search, embedded, scope, settings), embedded


async def _by_meaning_or_error(
    query: Query, scope: Scope, settings: SearchSettings
) -> tuple[Scores, Vectors] | BackendError:
    try:
        return await _by_meaning(query, scope, settings)
    except BackendError as error:
        return error


def _by_words(query: Query, scope: Scope, limit: int) -> tuple[Scores, WeightedWords]:
    words = fulltext.weigh(query.text)
    return fulltext.search(words, scope, limit), words


async def _complete(
    embedded: Vectors, words: WeightedWords, semantic: Scores, full_text: Scores
) -> tuple[Scores, Scores]:
    """Score by each search what only the other one found: a guess there would misplace it."""
    more_semantic, more_full_text = await asyncio.gather(
        in_thread(vector.score, embedded, full_text.keys() - semantic.keys()),
        in_thread(fulltext.score, words, semantic.keys() - full_text.keys()),
    )
    return semantic | more_semantic, full_text | more_full_text


def _fuse(semantic: Scores, full_text: Scores, settings: SearchSettings) -> Scores:
    hybrid = settings.hybrid_settings
    weights = (hybrid.semantic_weight, hybrid.full_text_weight)
    if hybrid.fusion == "rrf":
        return fusion.rrf(semantic, full_text, *weights, k=hybrid.rrf_k)
    return fusion.relative_score(semantic, full_text, *weights)


async def _load(
    semantic: Scores, full_text: Scores, order: Scores, settings: SearchSettings
) -> list[Hit]:
    stages = {"vector": semantic, "fulltext": full_text}
    if settings.use_hybrid_search:
        stages["fused"] = order
    best = {
        id_: {stage: scores[id_] for stage, scores in stages.items() if id_ in scores}
        for id_ in list(order)[: settings.top_k]
    }
    return await in_thread(hits.load, best)
