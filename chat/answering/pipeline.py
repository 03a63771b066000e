"""A question's way to its answer, as one stream of frames: retrieve, rerank, build, generate."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import chain

from django.conf import settings
from django.utils.translation import gettext, ngettext

from chat.answering import prefetch, retries
from chat.answering.citations import CitedAnswer
from chat.answering.prefetch import Finding
from chat.answering.prompts import NO_ANSWER, build_messages
from chat.frames import (
    Done,
    FinishReason,
    Frame,
    SearchResults,
    Source,
    Status,
    Thinking,
    Usage,
    WarningFrame,
    storable,
)
from retrieval import backends, search
from retrieval.backends.base import BackendError, ChatMessage, Delta, GenerationRequest, Query

logger = logging.getLogger(__name__)

SNIPPET_CHARS = 300
# Passages that are shown and stored as found, whether they are in the prompt or not.
RESULTS = 20


@dataclass(frozen=True)
class Question:
    """A question, and what its answer may draw on."""

    text: str
    scope: search.Scope
    history: Sequence[ChatMessage] = ()
    instructions: str = ""
    settings: search.SearchSettings = field(default_factory=search.SearchSettings)
    model: str | None = None

    @property
    def key(self) -> prefetch.Key:
        """What decides what this question finds."""
        return prefetch.Key(self.text, self.scope, self.settings)


class Clock:
    """Milliseconds since the run started, and marks on the way."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self.marks: dict[str, int] = {}

    def now(self) -> int:
        """Return the milliseconds since the start."""
        return round((time.monotonic() - self._start) * 1000)

    def mark(self, name: str) -> int:
        """Note the time under `name`, the first time only."""
        return self.marks.setdefault(name, self.now())


async def answer(question: Question) -> AsyncGenerator[Frame]:
    """Yield the frames of an answer, unnumbered; the last one is `done`.

    Raises BackendError where a provider fails. Closing the iterator closes the provider's stream.
    """
    clock = Clock()
    finding = await prefetch.take(question.key)
    if finding is None:
        async for step in find(question, clock):
            if isinstance(step, Finding):
                finding = step
            else:
                yield step
    assert finding is not None  # noqa: S101 - find ends with it
    hits = finding.hits
    context = search.build_context(hits, settings.CONTEXT_TOKENS, backends.embedder().count_tokens)
    clock.mark("searched_ms")
    numbers = {hit.id: number for number, hit in enumerate(context, 1)}
    shown = [*hits, *finding.others][:RESULTS]
    sources = [source_of(hit, numbers.get(hit.id)) for hit in shown]
    if not search.holds_answer(hits):
        sources = [source.model_copy(update={"index": None}) for source in sources]
        context = []
    yield SearchResults(results=sources, query=question.text, retrieval_ms=clock.now())
    if not context:
        for frame in refuse(clock):
            yield frame
        return
    counts = {"passages": len(context), "documents": len({hit.document_id for hit in context})}
    yield Status(
        stage="generating",
        message=found_message(**counts),
        elapsed_ms=clock.now(),
        counts=counts,
    )
    async with aclosing(generate(question, finding.query, context, clock)) as frames:
        async for frame in frames:
            yield frame


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
    ranked = {hit.id for hit in hits}
    others = [hit for hit in found.hits if hit.id not in ranked]
    yield Finding(query, tuple(hits), tuple(others))


async def look_ahead(question: Question) -> Finding:
    """Return what a question would find, for `prefetch`."""
    async for step in find(question, Clock()):
        if isinstance(step, Finding):
            return step
    raise AssertionError("find ends with a Finding")


async def generate(
    question: Question, query: Query, context: Sequence[search.Hit], clock: Clock
) -> AsyncGenerator[Frame]:
    """Yield the generator's answer as frames, with its citations."""
    passages = search.passages(context)
    cited = CitedAnswer(passages, [source_of(hit, n) for n, hit in enumerate(context, 1)])
    request = GenerationRequest(
        messages=build_messages(question.text, passages, question.history, question.instructions),
        question=query,
        passages=passages,
        model=question.model,
    )
    last = Delta()
    opening = Opening()
    async with aclosing(retries.stream(request)) as pieces:
        async for delta in pieces:
            if isinstance(delta, WarningFrame):
                yield delta
                continue
            if delta.thinking:
                yield Thinking(text=storable(delta.thinking))
            if delta.finish_reason:
                last = delta
            for frame in cited.feed(opening.feed(storable(delta.text))):
                clock.mark("first_token_ms")
                yield frame
    if opening.says_no_answer:
        for ending in refuse(clock):
            yield ending
        return
    for frame in chain(cited.feed(opening.finish()), cited.finish()):
        yield frame
    yield done(cited, last.finish_reason or "stop", clock, last)


class Opening:
    """Holds back the beginning of an answer while it may be the phrase for no answer."""

    def __init__(self) -> None:
        self._held = ""
        self._decided = False

    @property
    def says_no_answer(self) -> bool:
        """Whether the answer is that phrase, and nothing else so far."""
        return not self._decided and self._held.strip(" .`*\n\"'") == NO_ANSWER

    def feed(self, text: str) -> str:
        """Return what may be shown now."""
        if self._decided:
            return text
        self._held += text
        if (
            NO_ANSWER.startswith(self._held.strip()[: len(NO_ANSWER)])
            and len(self._held.strip()) < len(NO_ANSWER) + 4
        ):
            return ""
        return self.finish()

    def finish(self) -> str:
        """Return what was held back; from here on nothing is."""
        self._decided = True
        held, self._held = self._held, ""
        return held


def refuse(clock: Clock) -> list[Frame]:
    """Return the frames that say that the documents hold no answer."""
    cited = CitedAnswer((), ())
    frames: list[Frame] = list(cited.feed(gettext("The documents do not answer this.")))
    return [*frames, *cited.finish(), done(cited, "no_answer", clock, Delta())]


def done(cited: CitedAnswer, reason: FinishReason, clock: Clock, last: Delta) -> Done:
    """Return the terminal frame of an answer that came to its end."""
    clock.mark("total_ms")
    return Done(
        finish_reason=reason,
        answer=cited.text,
        citations=cited.citations,
        usage=Usage(prompt_tokens=last.prompt_tokens, completion_tokens=last.completion_tokens),
        timings=clock.marks,
    )


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
        scores={stage: round(score, 4) for stage, score in hit.scores.items()},
    )


def found_message(passages: int, documents: int) -> str:
    """Say what was found, in words."""
    found = ngettext("{n} relevant passage", "{n} relevant passages", passages).format(n=passages)
    where = ngettext("{n} document", "{n} documents", documents).format(n=documents)
    return gettext("Found {found} in {where}").format(found=found, where=where)


def degraded_message() -> str:
    """Say that only the words were searched for."""
    return gettext("The embedding model cannot be reached: only the words were searched for.")


def unranked_message() -> str:
    """Say that the order is the search's own."""
    return gettext("The reranker cannot be reached: the passages are in the order of the search.")
