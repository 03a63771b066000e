"""Finding what a question's answer may draw on: retrieve, rerank, and build the context."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext

from chat.answering.question import Clock, Question
from chat.frames import Frame, Source, Status, WarningFrame
from retrieval import backends, search
from retrieval.backends.base import BackendError, Query

logger = logging.getLogger(__name__)

SNIPPET_CHARS = 300
# Passages that are shown and stored as found, whether they are in the prompt or not.
RESULTS = 20


@dataclass(frozen=True)
class Finding:
    """What was found.

    `context` are the passages of the prompt, none where nothing holds an answer; `sources` are
    those to show, as ranked.
    """

    query: Query
    context: tuple[search.Hit, ...]
    sources: tuple[Source, ...]


async def find(question: Question, clock: Clock) -> AsyncGenerator[Frame | Finding]:
    """Yield the frames of retrieving and reranking, and at the end what was found."""
    yield Status(stage="searching", message=gettext("Searching your documents…"))
    query = search.analyse(question.text)
    found = await search.retrieve(query, question.scope, question.settings)
    clock.mark("retrieved_ms")
    if found.degraded:
        logger.warning("Searched by full text alone: %s", found.degraded.message)
        yield WarningFrame(code="search_degraded", message=degraded_message())
    hits = found.hits
    if hits:
        yield Status(
            stage="reranking",
            message=gettext("Ranking what was found…"),
            elapsed_ms=clock.now(),
            counts={"candidates": len(hits)},
        )
        try:
            hits = await search.rerank(query, found.hits, question.settings)
        except BackendError as error:
            logger.warning("Not reranked: %s", error.message)
            yield WarningFrame(code="rerank_failed", message=unranked_message())
            hits = hits[: question.settings.top_n]
    yield finding_of(query, hits, found.hits)


def finding_of(query: Query, ranked: Sequence[search.Hit], found: Sequence[search.Hit]) -> Finding:
    """Return what goes into the prompt, and what is shown as found."""
    holds_answer = search.holds_answer(ranked)
    count_tokens = backends.embedder().count_tokens
    context = (
        search.build_context(ranked, settings.CONTEXT_TOKENS, count_tokens) if holds_answer else ()
    )
    numbers = {hit.id: number for number, hit in enumerate(context, 1)}
    best = {hit.id for hit in ranked}
    shown = [*ranked, *(hit for hit in found if hit.id not in best)][:RESULTS]
    return Finding(
        query, tuple(context), tuple(source_of(hit, numbers.get(hit.id)) for hit in shown)
    )


async def look_ahead(question: Question) -> Finding:
    """Return what a question would find, for `prefetch`."""
    async for step in find(question, Clock()):
        if isinstance(step, Finding):
            return step
    raise AssertionError("find ends with a Finding")


def source_of(hit: search.Hit, index: int | None) -> Source:
    """Describe a passage for people."""
    return Source(
        index=index,
        source_id=str(hit.id),
        document_id=str(hit.document_id),
        title=hit.title,
        page=hit.page,
        heading=hit.heading,
        snippet=hit.text[:SNIPPET_CHARS],
        # Adding 0 makes 0 of -0, which JSON has and PostgreSQL does not.
        scores={stage: round(score, 4) + 0.0 for stage, score in hit.scores.items()},
    )


def degraded_message() -> str:
    """Say that only the words were searched for."""
    return gettext("The embedding model cannot be reached: only the words were searched for.")


def unranked_message() -> str:
    """Say that the order is the search's own."""
    return gettext("The reranker cannot be reached: the passages are in the order of the search.")
