"""Answering from what the model knows, where the documents hold no answer and that is allowed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from django.conf import settings
from django.utils.translation import gettext

from chat.answering import retries
from chat.answering.citations import CitedAnswer
from chat.answering.endings import done
from chat.answering.prompts import turns_before
from chat.answering.question import Clock, Question
from chat.client_messages import storable
from chat.frames import Frame, Grounding, Status, Thinking, Usage, WarningFrame
from retrieval.backends.base import ChatMessage, Delta, GenerationRequest, Query
from retrieval.backends.completion import writes
from retrieval.text.cleaning import inert

CODE = "without_sources"

SYSTEM = """You answer questions. The user's documents were searched for this one and do not \
answer it, so there are no passages to quote.
- Answer from your own general knowledge. Keep it short and to the point.
- Never write numbers in square brackets and never name a document as a source: there is none.
- Of matters that only the user's documents could tell, say that you do not know.
- If you are not sure, say so.
- Answer in the language of the question."""


def may_answer(question: Question) -> bool:
    """Whether the model is asked where nothing is found; a generator that quotes knows nothing."""
    return question.without_sources and writes()


async def answer(
    question: Question, query: Query, clock: Clock, spent: Usage
) -> AsyncGenerator[Frame]:
    """Yield the model's own answer as frames, the warning that says so first; it cites nothing.

    `spent` are the tokens of what came before. Raises BackendError.
    """
    yield Status(stage="generating", message=asking_message(), elapsed_ms=clock.now())
    yield WarningFrame(code=CODE, message=warning_message())
    request = GenerationRequest(
        messages=build_messages(question),
        question=query,
        passages=(),
        model=question.model,
        settings=question.generation,
    )
    # Without passages every marker is removed.
    uncited = CitedAnswer((), ())
    last = Delta()
    async with aclosing(retries.stream(request)) as pieces:
        async for delta in pieces:
            if isinstance(delta, WarningFrame):
                yield delta
                continue
            if delta.thinking:
                yield Thinking(text=storable(delta.thinking))
            if delta.finish_reason:
                last = delta
            for frame in uncited.feed(storable(delta.text)):
                clock.mark("first_token_ms")
                yield frame
    for frame in uncited.finish():
        yield frame
    if settings.GROUNDING:
        yield Grounding(verdict="no_sources")
    ending = done(uncited, last.finish_reason or "stop", clock, last, spent)
    yield ending.model_copy(update={"without_sources": True})


def build_messages(question: Question) -> list[ChatMessage]:
    """Return the prompt: that there are no passages, the assistant's instructions, the turns."""
    system = "\n\n".join(filter(None, (SYSTEM, question.instructions.strip())))
    return [
        ChatMessage("system", system),
        *turns_before(question.history),
        ChatMessage("user", inert(question.text)),
    ]


def asking_message() -> str:
    """Say what happens next."""
    return gettext("The documents do not answer this. Asking the model…")


def warning_message() -> str:
    """Say what the answer is not."""
    return gettext("Not from your documents: the model answers from what it knows.")
