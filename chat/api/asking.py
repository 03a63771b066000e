"""Asking for a program: a run is started, and followed frame by frame or to its end."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import DatabaseError
from django.utils.translation import gettext

from chat import runs
from chat.announcing import announce
from chat.api import staying
from chat.client_messages import Ask
from chat.frames import (
    Citation,
    Done,
    Error,
    Frame,
    Grounding,
    SearchResults,
    Snapshot,
    Source,
    Status,
    Token,
    WarningFrame,
)
from chat.models import Run
from chat.runstate import RunRefused, unavailable_message
from chat.terms import PAGE, Terms
from retrieval.database import rows
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.api.credentials import Request

logger = logging.getLogger(__name__)


@dataclass
class Answered:
    """An answer as a whole, as its frames told of it; either `done` or `error` is there."""

    run: UUID
    first: Status | None = None
    """The frame that says where the question went: its conversation, question and answer."""
    search_results: list[Source] = field(default_factory=list)
    query: str = ""
    citations: list[Citation] = field(default_factory=list)
    """One for each marker, in order; none of an answer of which only the end is still stored."""
    grounding: Grounding | None = None
    warnings: list[WarningFrame] = field(default_factory=list)
    done: Done | None = None
    error: Error | None = None
    text: str = ""
    """The answer; what there is of it where it failed."""

    @property
    def sources(self) -> list[Source]:
        """The passages that are cited, each once, in the order in which they are."""
        return [each.source for each in self.citations if each.source is not None]

    def take(self, frame: Frame) -> None:
        """Take a frame in."""
        match frame:
            case Status() if frame.answer is not None:
                self.first = frame
            case SearchResults():
                self.search_results, self.query = frame.results, frame.query
            case Token():
                self.text += frame.text
            case Snapshot():
                self.text = frame.text
            case Citation():
                self.citations.append(frame)
            case Grounding():
                self.grounding = frame
            case WarningFrame():
                self.warnings.append(frame)
            case Done():
                self.done, self.text = frame, frame.answer
            case Error():
                self.error = frame


async def begin(request: Request, ask: Ask, terms: Terms = PAGE) -> Run:
    """Start to answer a question of whoever calls, and let their pages know of it.

    Whatever can be refused is refused here, before anything is sent. Raises RunRefused,
    DatabaseError.
    """
    run = await runs.start(request.user, ask, terms)
    await announce(run)
    return run


async def frames(request: Request, run: UUID, after: int = 0) -> AsyncGenerator[Frame]:
    """Yield a run's frames behind number `after`, to the end, or until the caller is signed out.

    Whoever reads to the end, or leaves, closes it: the run's terms say what becomes of it then.
    Where it cannot be read on, the last frame is an error of no run that says why.
    """
    async with aclosing(staying.follow(request, run, after)) as coming:
        try:
            async for frame in coming:
                yield frame
        except RunRefused as refused:
            yield refused.frame()
        except Exception as error:  # the outermost edge: a response has begun, or is paid for
            logger.exception("Run %s: could not be followed", run)
            yield _lost(error)


def _lost(error: Exception) -> Error:
    if isinstance(error, DatabaseError):
        return Error(code="unavailable", message=unavailable_message(), recoverable=True)
    message = gettext("The connection to this answer was lost.")
    return Error(code="internal", message=message, recoverable=True)


async def whole(request: Request, run: UUID) -> Answered:
    """Return an answer when it has ended, or cannot be read on."""
    answered = Answered(run)
    async with aclosing(frames(request, run)) as coming:
        async for frame in coming:
            answered.take(frame)
    return answered


async def collection_names(user: User, collections: Sequence[UUID | str]) -> list[str]:
    """Return the names of collections that are named, or given by their ids.

    Raises RunRefused for an id that is of none that `user` may search, DatabaseError.
    """
    keys = [each for each in collections if isinstance(each, UUID)]
    if not keys:
        return [str(each) for each in collections]
    visible = Collection.objects.visible_to(user).filter(pk__in=keys)
    named: dict[UUID, str] = dict(await rows(visible.values_list("pk", "name")))
    for key in keys:
        if key not in named:
            message = gettext("There is no collection “{name}”.").format(name=key)
            raise RunRefused("unknown_collection", message)
    return [named[each] if isinstance(each, UUID) else each for each in collections]
