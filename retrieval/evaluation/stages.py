"""Asking a loaded set's questions of each stage of the search, as the product would."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from uuid import UUID

from django.contrib.auth.models import User

from retrieval import search
from retrieval.database import fetch
from retrieval.evaluation.datasets import SetQuery
from retrieval.search import Hit, Scope, SearchSettings

StageName = Literal["vector", "fulltext", "hybrid", "reranked"]
STAGES: tuple[StageName, ...] = get_args(StageName)
# Documents that a measure looks at, and chunks that hold as many documents in most sets.
DEPTH = 100
DEEP = 300
WARM_UP = 3

SEARCHES: dict[StageName, dict[str, object]] = {
    "vector": {"use_fulltext_search": False, "rerank": False},
    "fulltext": {"use_semantic_search": False, "rerank": False},
    "hybrid": {"rerank": False},
    "reranked": {},
}


@dataclass(frozen=True)
class Ranking:
    """What a stage found for a question: ids of the set's documents, best first, and how fast."""

    query: str
    documents: tuple[str, ...]
    seconds: float


async def run(stage: StageName, queries: Sequence[SetQuery]) -> list[Ranking]:
    """Return what a stage finds for each question. Raises BackendError, DatabaseError.

    The order is that of the search's own defaults; what they leave out is appended from a search
    that looks further and is not timed.
    """
    names = await document_ids()
    for query in queries[:WARM_UP]:
        await ask(query.text, stage)
    return [await _rank(stage, query, names) for query in queries]


async def _rank(stage: StageName, query: SetQuery, names: dict[UUID, str]) -> Ranking:
    began = time.perf_counter()
    ranked, found = await ask(query.text, stage)
    seconds = time.perf_counter() - began
    documents = best_first([*ranked, *found], names)
    if len(documents) < min(DEPTH, len(names)):
        deep = SearchSettings.parse(SEARCHES[stage] | {"top_k": DEEP, "rerank": False})
        further = await search.retrieve(search.analyse(query.text), everything(), deep)
        documents = list(dict.fromkeys([*documents, *best_first(further.hits, names)]))
    return Ranking(query.id, tuple(documents[:DEPTH]), seconds)


async def ask(
    text: str, stage: StageName = "reranked", **settings: object
) -> tuple[list[Hit], list[Hit]]:
    """Return the hits of a question as the stage ranks them, and the candidates they are of."""
    chosen = SearchSettings.parse(SEARCHES[stage] | settings)
    query = search.analyse(text)
    found = (await search.retrieve(query, everything(), chosen)).hits
    if not chosen.rerank:
        return found, found
    return await search.rerank(query, found, chosen), found


def best_first(hits: Iterable[Hit], names: dict[UUID, str]) -> list[str]:
    """Return the documents of hits in the order of each one's best chunk."""
    return list(dict.fromkeys(names[hit.document_id] for hit in hits))


def everything() -> Scope:
    """Return the scope of somebody who may see all there is."""
    return Scope(User(username="evaluation", is_staff=True, is_superuser=True))


async def document_ids() -> dict[UUID, str]:
    """Return each document's id in the set."""
    return dict(await fetch("SELECT id, name FROM retrieval_document"))
