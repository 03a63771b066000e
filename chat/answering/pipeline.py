"""A question's way to its answer, as one stream of frames: retrieve, rerank, build, generate."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import chain

from django.utils.translation import gettext, ngettext

from chat.answering import prefetch, retries, without_sources
from chat.answering.checking import Asked, Checking, Later
from chat.answering.citations import CitedAnswer
from chat.answering.endings import done, refuse, spent
from chat.answering.finding import Finding, find, source_of
from chat.answering.prompts import NO_ANSWER, build_messages
from chat.answering.question import Clock, Question
from chat.answering.showing import Showing, showing
from chat.client_messages import storable
from chat.frames import Frame, SearchResults, Status, Thinking, Usage, WarningFrame
from retrieval import search
from retrieval.backends.base import Delta, GenerationRequest


async def answer(question: Question, later: Later | None = None) -> AsyncGenerator[Frame]:
    """Yield the frames of an answer, unnumbered; the last one is `done`.

    `later` takes what of its checking is not done by then. Raises BackendError where a provider
    fails. Closing the iterator closes the provider's stream.
    """
    clock = Clock()
    finding = await prefetch.take(question.key)
    if finding is None:
        async with aclosing(find(question, clock)) as steps:
            async for step in steps:
                if isinstance(step, Finding):
                    finding = step
                else:
                    yield step
    else:
        for frame in finding.told:
            yield frame
    assert finding is not None  # noqa: S101 - find ends with it
    context = finding.context
    show = await showing(question.settings, finding.sources)
    clock.mark("searched_ms")
    yield SearchResults(
        results=[show(source) for source in finding.sources],
        query=finding.query.text,
        retrieval_ms=clock.now(),
    )
    if not context:
        async with aclosing(answer_unfound(question, finding, clock, finding.usage)) as frames:
            async for frame in frames:
                yield frame
        return
    counts = {"passages": len(context), "documents": len({hit.document_id for hit in context})}
    yield Status(
        stage="generating",
        message=found_message(**counts),
        elapsed_ms=clock.now(),
        counts=counts,
    )
    async with aclosing(generate(question, finding, clock, show, later)) as frames:
        async for frame in frames:
            yield frame


async def generate(
    question: Question, finding: Finding, clock: Clock, show: Showing, later: Later | None
) -> AsyncGenerator[Frame]:
    """Yield the generator's answer as frames, with its citations and how well these support it."""
    context = finding.context
    passages = search.passages(context)
    cited = CitedAnswer(
        passages,
        [show(source_of(hit, n)) for n, hit in enumerate(context, 1)],
        lambda n, offset: show(source_of(context[n - 1].part_at(offset), n)),
        lambda n, start, end: context[n - 1].place_of(start, end),
    )
    request = GenerationRequest(
        messages=build_messages(question.text, passages, question.history, question.instructions),
        question=finding.query,
        passages=passages,
        model=question.model,
        settings=question.generation,
    )
    last = Delta()
    opening = Opening()
    async with (
        Checking(cited, Asked(finding.query.language, question.model), later) as checking,
        aclosing(retries.stream(request)) as pieces,
    ):
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
                checking.note(frame)
                yield frame
        if not opening.says_no_answer:
            for frame in chain(cited.feed(opening.finish()), cited.finish()):
                yield frame
            if grounding := await checking.frame():
                yield grounding
            clock.mark("checked_ms")
            yield done(cited, last.finish_reason or "stop", clock, last, finding.usage)
            return
    so_far = spent(finding.usage, last)
    async with aclosing(answer_unfound(question, finding, clock, so_far)) as endings:
        async for ending in endings:
            yield ending


async def answer_unfound(
    question: Question, finding: Finding, clock: Clock, so_far: Usage
) -> AsyncGenerator[Frame]:
    """Yield the answer where the documents hold none: that they do not, or the model's own.

    `so_far` are the tokens that finding that out took.
    """
    if without_sources.may_answer(question):
        own = without_sources.answer(question, finding.query, clock, so_far)
        async with aclosing(own) as frames:
            async for frame in frames:
                yield frame
        return
    for frame in refuse(clock, so_far):
        yield frame


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


def found_message(passages: int, documents: int) -> str:
    """Say what was found, in words."""
    found = ngettext("{n} relevant passage", "{n} relevant passages", passages).format(n=passages)
    where = ngettext("{n} document", "{n} documents", documents).format(n=documents)
    return gettext("Found {found} in {where}").format(found=found, where=where)
