"""Finding what a question's answer may draw on: retrieve, rerank, and build the context."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.utils.translation import gettext

from chat.answering.preparing import Prepared, prepare
from chat.answering.question import Clock, Question
from chat.frames import Frame, Source, Status, Usage, WarningFrame
from retrieval import search
from retrieval.backends import tokens
from retrieval.backends.base import BackendError, Query
from retrieval.search import strategies

logger = logging.getLogger(__name__)

SNIPPET_CHARS = 300
# Passages that are shown and stored as found, whether they are in the prompt or not.
RESULTS = 20
# Ranked passages beside those that are wanted, for the sake of several documents.
SPARE = 2


@dataclass(frozen=True)
class Finding:
    """What was found.

    `context` are the passages of the prompt, none where nothing holds an answer; `sources` are
    those to show, as ranked. `told` are the frames that say what was searched for in place of the
    question, and `usage` the tokens that took.
    """

    query: Query
    context: tuple[search.Hit, ...]
    sources: tuple[Source, ...]
    told: tuple[Frame, ...] = ()
    usage: Usage = field(default_factory=Usage)


async def find(question: Question, clock: Clock) -> AsyncGenerator[Frame | Finding]:
    """Yield the frames of rewriting, retrieving and reranking, and at the end what was found."""
    told: list[Frame] = []
    async with aclosing(prepare(question, clock)) as steps:
        async for step in steps:
            if isinstance(step, Prepared):
                prepared = step
            else:
                told.append(step)
                yield step
    query = prepared.query
    yield Status(stage="searching", message=prepared.message, elapsed_ms=clock.now() if told else 0)
    found = await strategies.retrieve_with(
        query, prepared.written, question.scope, question.settings
    )
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
            hits = await search.rerank(query, found.hits, question.settings, SPARE)
        except BackendError as error:
            logger.warning("Not reranked: %s", error.message)
            yield WarningFrame(code="rerank_failed", message=unranked_message())
            hits = hits[search.window(question.settings, SPARE)]
    limit = min(question.settings.limit, question.settings.top_n)
    finding = finding_of(query, hits, found.hits, limit)
    yield replace(finding, told=tuple(told), usage=prepared.usage)


def finding_of(
    query: Query, ranked: Sequence[search.Hit], found: Sequence[search.Hit], limit: int
) -> Finding:
    """Return what goes into the prompt, of `limit` passages, and what is shown as found."""
    chosen = search.diversify(search.answerable(ranked), limit)
    context = search.build_context(chosen, settings.CONTEXT_TOKENS, tokens.count)
    numbers = {chunk.id: number for number, hit in enumerate(context, 1) for chunk in hit.chunks}
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
