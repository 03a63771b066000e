"""Finding candidates: by meaning and by words, fused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from retrieval.backends.base import BackendError, Query
from retrieval.search import candidates, fulltext, fusion, operators, vector
from retrieval.search.scope import narrow

if TYPE_CHECKING:
    from retrieval.search.fulltext import WeightedWords
    from retrieval.search.hits import Hit
    from retrieval.search.scope import Scope
    from retrieval.search.settings import SearchSettings
    from retrieval.search.vector import Meaning


@dataclass(frozen=True)
class Retrieved:
    """The hits, best first; `degraded` says why they were found by full text alone, if so."""

    hits: list[Hit]
    degraded: BackendError | None = None


async def retrieve(
    query: Query, scope: Scope, settings: SearchSettings, passages: Sequence[str] = ()
) -> Retrieved:
    """Return the `top_k` chunks in scope that fit the query best.

    Vector search looks between the query and `passages`, which may answer it, if there are any.

    Raises BackendError if the query could not be embedded and full text is not searched, too.
    """
    query, scope = await operators.apply(query, replace(scope, filter=settings.filters), settings)
    if not query.text:
        return Retrieved([])
    meaning, scope, words = await asyncio.gather(
        _embed(query, settings, passages), narrow(scope), _weigh(query, settings)
    )
    degraded = meaning if isinstance(meaning, BackendError) else None
    if degraded and not settings.use_fulltext_search:
        raise degraded
    by_meaning = None if isinstance(meaning, BackendError) else meaning
    hits = await candidates.load(scope, settings, by_meaning, words)
    return Retrieved(order(hits, settings), degraded)


async def _embed(
    query: Query, settings: SearchSettings, passages: Sequence[str]
) -> Meaning | BackendError | None:
    """Return the question's vector with its space; None if there is nothing to compare it to."""
    if not settings.use_semantic_search:
        return None
    try:
        return await vector.embed(query.text, passages)
    except BackendError as error:
        return error


async def _weigh(query: Query, settings: SearchSettings) -> WeightedWords | None:
    return await fulltext.weigh(query.text) if settings.use_fulltext_search else None


def order(hits: list[Hit], settings: SearchSettings) -> list[Hit]:
    """Return the `top_k` best, best first, with the score `fused` if two searches found them."""
    by_measure, semantic, full_text = (
        {hit: hit.scores[stage] for hit in hits if stage in hit.scores}
        for stage in ("nearness", "vector", "fulltext")
    )
    # What was found by another measure than the cosine is in the order of that measure.
    semantic = by_measure or semantic
    if not settings.use_hybrid_search:
        found = semantic or full_text
        return sorted(found, key=lambda hit: -found[hit])[: settings.top_k]
    hybrid = settings.hybrid_settings
    weights = (hybrid.semantic_weight, hybrid.full_text_weight)
    if hybrid.fusion == "rrf":
        fused = fusion.rrf(semantic, full_text, *weights, k=hybrid.rrf_k)
    else:
        languages = {hit: hit.language for hit in hits}
        fused = fusion.relative_score(semantic, full_text, *weights, languages)
    return [hit.scored("fused", score) for hit, score in islice(fused.items(), settings.top_k)]
