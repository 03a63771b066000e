"""Checking what an answer cites beside its being streamed: in time for its end, or later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, NamedTuple, Self

from django.conf import settings

from chat.answering import judging
from chat.answering.citations import CitedAnswer
from chat.answering.grounding import Grounder
from chat.frames import Citation, Grounding, Token
from retrieval.backends.base import BackendError

logger = logging.getLogger(__name__)

# How long checking may take at all.
AT_MOST_SECONDS = 60.0

Later = Callable[[Coroutine[Any, Any, judging.Judged | None]], None]


class Asked(NamedTuple):
    """What of a question matters here: its language, and the model that is to answer."""

    language: str = ""
    model: str | None = None


class Checking:
    """The checking of one answer: `async with` it while the answer is streamed.

    `later` takes what is still to be found out when the answer has ended, or was broken off;
    without it that is dropped.
    """

    def __init__(self, cited: CitedAnswer, asked: Asked, later: Later | None) -> None:
        self._cited = cited
        self._model = asked.model
        self._later = later
        self._grounder = Grounder(cited, asked.language) if settings.GROUNDING else None
        self._work: asyncio.Task[Grounding] | None = None
        self._in_time = False

    def note(self, frame: Token | Citation) -> None:
        """Begin to check what is cited by now."""
        if self._grounder and isinstance(frame, Citation):
            self._grounder.look()

    async def frame(self) -> Grounding | None:
        """Return how well the answer is supported, and put that into its citations.

        None if that takes too long, or fails.
        """
        if self._grounder is None:
            return None
        self._work = asyncio.create_task(self._grounder.finish(), name="check answer")
        await asyncio.wait([self._work], timeout=settings.GROUNDING_WAIT_SECONDS)
        grounding = _result(self._work) if self._work.done() else None
        self._in_time = self._work.done()
        if grounding:
            self._cited.citations = grounding.applied_to(self._cited.citations)
        return grounding

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._grounder is None:
            return
        unfinished = self._cited.citations and (not self._in_time or judging.is_on())
        if unfinished and self._later:
            self._later(self._rest(self._grounder))
            return
        self._grounder.close()
        if self._work:
            self._work.cancel()

    async def _rest(self, grounder: Grounder) -> judging.Judged | None:
        """Return what could not be said in time; None if there is nothing to say."""
        work = self._work or asyncio.create_task(grounder.finish(), name="check answer")
        try:
            await asyncio.wait([work], timeout=AT_MOST_SECONDS)
            grounding = _result(work) if work.done() else None
        finally:
            grounder.close()
            work.cancel()
        if grounding is None:
            return None
        if judging.is_on():
            return await judging.judge(self._cited.text, grounding, self._model)
        return judging.Judged(grounding)


def _result(work: asyncio.Task[Grounding]) -> Grounding | None:
    """Return what was found out; an answer stands without that, too."""
    if work.cancelled():
        return None
    error = work.exception()
    if isinstance(error, BackendError):
        logger.warning("An answer is not checked: %s (%s)", error.message, error.code)
        return None
    if error is not None:
        logger.error("Checking an answer failed", exc_info=error)
        return None
    return work.result()
