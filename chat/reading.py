"""Readers of runs: live from this process, or from the database, and the grace they are given.

A run goes on for RUN_GRACE_SECONDS after its last reader left, in whatever process it read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError
from django.utils.translation import gettext

from chat import quoting, runstate
from chat.active import RUNS, ActiveRun, hold
from chat.frames import TERMINAL, Frame, SearchResults
from chat.models import ACTIVE, Assistant, Conversation, Run
from chat.redaction import Quoted, Redactor, hidden_documents
from chat.runstate import RunRefused
from retrieval import backends
from retrieval.database import in_thread, rows

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

# How often a reader looks for frames of a run that another process works on.
POLL_SECONDS = 0.25
# How long it waits when PostgreSQL is away.
AWAY_SECONDS = 2.0
# Whoever asked has this long to begin reading, however short the grace period is.
FIRST_READER_SECONDS = 10.0


async def follow(user: User, run_id: UUID, after: int = 0) -> AsyncGenerator[Frame]:
    """Yield a run's frames behind number `after`: stored ones, then live ones, to the end.

    A client that cannot be brought up to date frame by frame gets a snapshot. What the user may
    no longer see is taken out. Raises RunRefused for a run that is not there or somebody else's.
    """
    active = RUNS.get(run_id)
    if active and active.run.user_id == user.pk:
        frames = _follow_here(active, after)
        quotes = backends.generator().quotes_only
        quoted: Quoted = partial(_quoted_here, active)
    else:
        kept = Run.objects.filter(conversation__deleted_at=None)
        run = await in_thread(kept.filter(id=run_id, user=user).first)
        if run is None:
            raise RunRefused("not_found", gettext("There is no such answer."))
        frames = _follow_stored(run, after)
        quotes = quoting.only_quotes(run)
        quoted = partial(in_thread, quoting.quoted_documents, run)
    redactor = Redactor(user, quoted if quotes else None)
    async with aclosing(frames):
        async for frame in frames:
            yield await redactor.redact(frame)


async def is_withdrawn(user: User, run: UUID) -> bool:
    """Whether `user` may no longer see all that a run's answer is written from, or its assistant.

    Raises DatabaseError.
    """
    closed = Conversation.objects.filter(runs=run, assistant__isnull=False).exclude(
        assistant__in=Assistant.objects.usable_by(user)
    )
    if await rows(closed.order_by().values_list("pk")):
        return True
    active = RUNS.get(run)
    frames = active.log.frames if active else await in_thread(runstate.stored_frames, run, 0)
    shown = next((frame for frame in frames if isinstance(frame, SearchResults)), None)
    if shown is None:
        return False
    used = {source.document_id for source in shown.results if source.index is not None}
    return bool(used and await hidden_documents(user, used))


async def _quoted_here(active: ActiveRun) -> set[str]:
    return quoting.quoted_so_far(active.log)


async def _follow_here(active: ActiveRun, after: int) -> AsyncGenerator[Frame]:
    active.readers += 1
    if active.grace:
        active.grace.cancel()
    try:
        async with aclosing(active.log.follow(after)) as frames:
            async for frame in frames:
                yield frame
    finally:
        active.readers -= 1
        if not active.readers:
            wait_for_readers(active)


def wait_for_first_reader(active: ActiveRun) -> None:
    """Cancel a new run unless somebody begins to read it."""
    wait_for_readers(active, at_least=FIRST_READER_SECONDS)


def wait_for_readers(active: ActiveRun, at_least: float = 0.0) -> None:
    """Cancel the run unless somebody reads it in the time that its terms allow."""
    seconds = active.terms.leaves_seconds
    if seconds is None:
        return

    def check() -> None:
        if not active.readers and not active.work.done():
            hold(_abandon(active), f"abandon run {active.run.id}")

    loop = asyncio.get_running_loop()
    active.grace = loop.call_later(max(seconds, at_least), check)


async def _abandon(active: ActiveRun) -> None:
    within = settings.RUN_GRACE_SECONDS + 2 * POLL_SECONDS
    try:
        elsewhere = await in_thread(runstate.was_read_within, active.run.id, within)
    except DatabaseError:
        elsewhere = False  # nobody can read elsewhere while it is away
    if active.readers:
        return
    if elsewhere:
        wait_for_readers(active, at_least=within)
    else:
        active.cancel("abandoned")


async def _follow_stored(run: Run, after: int) -> AsyncGenerator[Frame]:
    """Yield frames from the database, of an ended run or of one that another process works on."""
    position = after
    while True:
        try:
            # The state first: what is stored when it has ended is all there will be.
            state = await in_thread(_current_state, run.id)
            frames = await in_thread(runstate.stored_frames, run.id, position)
        except DatabaseError as error:
            logger.warning("Run %s: waiting for the database to read on: %s", run.id, error)
            await asyncio.sleep(AWAY_SECONDS)
            continue
        for frame in frames:
            yield frame
            position = frame.seq
            if isinstance(frame, TERMINAL):
                return
        if state not in ACTIVE:
            break
        await asyncio.sleep(POLL_SECONDS)
    for frame in await in_thread(runstate.stored_frames, run.id, after - 1):
        if isinstance(frame, TERMINAL):
            yield frame  # the client has everything: this is the end it has already seen
            return
    await in_thread(run.refresh_from_db)
    for frame in await in_thread(runstate.snapshot, run):
        yield frame


def _current_state(run: UUID) -> str:
    runstate.interrupt_expired()
    runstate.read_by(run)
    return Run.objects.values_list("state", flat=True).get(id=run)
