"""From a question to what is searched for: rewritten if it goes on with others, and by strategy."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from django.utils.translation import gettext, ngettext

from chat.answering import rewriting
from chat.answering.followups import Kind, kind_of
from chat.answering.question import Clock, Question
from chat.frames import Frame, Status, Usage, WarningFrame, Written
from retrieval import search
from retrieval.backends.base import BackendError, Query
from retrieval.backends.completion import writes
from retrieval.search import strategies

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prepared:
    """What to search for: a query, what a strategy wrote beside it, and the tokens all that took.

    `message` is what people are told while it is searched for.
    """

    query: Query
    message: str
    written: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


def asks_generator(question: Question) -> bool:
    """Whether a question needs the generator before it can be searched for."""
    return strategies.asks_generator(question.settings) or rewriting.asks_generator(question)


async def prepare(question: Question, clock: Clock) -> AsyncGenerator[Frame | Prepared]:
    """Yield the frames of rewriting and of the strategy, and at the end what to search for.

    A generator that fails is a warning, never an error. Raises DatabaseError.
    """
    usage = Usage()
    text = question.text
    message = gettext("Searching your documents…")
    kind = kind_of(text, rewriting.earlier_questions(question))
    if kind is not Kind.STANDS and writes():
        yield status(gettext("Reading the question with the conversation…"), clock)
        try:
            rewritten = await rewriting.by_generator(question)
        except BackendError as error:
            logger.warning("Not rewritten: %s (%s)", error.message, error.code)
            yield WarningFrame(code="rewrite_failed", message=not_rewritten_message())
        else:
            text, kind = rewritten.text, Kind.STANDS
            usage = spent(usage, rewritten)
    if kind is Kind.FOLLOWS:
        text = await rewriting.by_words(question)
    if text != question.text:
        message = gettext("Searching for: {query}").format(query=text)
        yield status(message, clock, Written(kind="question", texts=[text]))
    query = search.analyse(text)
    texts: tuple[str, ...] = ()
    if question.settings.search_strategy != "vanilla":
        if writes():
            yield status(writing_message(question.settings), clock)
        try:
            written = await strategies.write(query, question.settings, question.model)
        except BackendError as error:
            logger.warning("No strategy: %s (%s)", error.message, error.code)
            yield strategy_warning()
        else:
            texts, usage = written.texts, spent(usage, written)
            hyde = question.settings.search_strategy == "hyde"
            message = written_message(len(texts), hyde=hyde)
            record = Written(kind="passages" if hyde else "queries", texts=list(texts))
            yield status(message, clock, record)
    yield Prepared(query, message, texts, usage)


def status(message: str, clock: Clock, written: Written | None = None) -> Status:
    """Return a frame of the stage, with what was written in the end."""
    counts: dict[str, int] = {written.kind: len(written.texts)} if written else {}
    return Status(
        stage="rewriting",
        message=message,
        elapsed_ms=clock.now(),
        counts=counts,
        written=written,
    )


def spent(usage: Usage, more: rewriting.Rewritten | strategies.Written) -> Usage:
    """Return the tokens of both."""
    return Usage(
        prompt_tokens=usage.prompt_tokens + more.prompt_tokens,
        completion_tokens=usage.completion_tokens + more.completion_tokens,
    )


def not_rewritten_message() -> str:
    """Say that the model was of no help with a question that goes on with others."""
    return gettext("The model could not rewrite the question: its words are searched for.")


def strategy_warning() -> WarningFrame:
    """Say that the search goes on without what a model should have written for it."""
    if writes():
        message = gettext("The model wrote nothing to search with: the question is searched for.")
        return WarningFrame(code="strategy_failed", message=message)
    message = gettext("This search strategy needs a model: the question is searched for as it is.")
    return WarningFrame(code="strategy_unavailable", message=message)


def writing_message(settings: search.SearchSettings) -> str:
    """Say what a strategy has the generator write."""
    if settings.search_strategy == "hyde":
        return gettext("Imagining what an answer would say…")
    return gettext("Putting the question in other words…")


def written_message(count: int, *, hyde: bool) -> str:
    """Say what is searched with beside the question."""
    if hyde:
        text = ngettext(
            "Searching with {n} imagined passage…", "Searching with {n} imagined passages…", count
        )
    else:
        text = ngettext(
            "Searching in {n} other wording…", "Searching in {n} other wordings…", count
        )
    return text.format(n=count)
