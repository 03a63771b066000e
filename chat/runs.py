"""Runs: one question being answered, by a task of this process that belongs to nobody's socket.

`start` a run, `follow` its frames from anywhere, `stop` it from anywhere. PostgreSQL decides what
is true: the owner renews a lease there, and learns there that another process wants it to stop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import aclosing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError
from django.utils.translation import gettext
from structlog.contextvars import bound_contextvars

from chat import allowance, asking, late_grounding, runstate, spending, storing, titling
from chat.active import OWNER, RUNS, ActiveRun, hold
from chat.answering import finding, pipeline, prefetch, preparing
from chat.client_messages import Ask, Prefetch
from chat.failures import failure
from chat.frames import Done, Error
from chat.metrics import RunMeter
from chat.models import Run, RunState
from chat.reading import follow, is_withdrawn, wait_for_first_reader
from chat.runlog import RunLog
from chat.runstate import RunRefused
from chat.saving import Saver
from chat.storing import NewRun
from chat.terms import PAGE, Terms
from retrieval import backends
from retrieval.backends.base import BackendError
from retrieval.database import in_thread

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

# How often the owner renews its leases and looks for requests to stop.
HEARTBEAT_SECONDS = 0.5
# How often frames that nobody needs any more are deleted.
FORGET_SECONDS = 60.0
# How often a question that waits for the one before it looks whether it is its turn.
TURN_SECONDS = 0.25
# How long a reader waits for the end to be saved; longer only if PostgreSQL is away.
END_SECONDS = 2.0
# How long a process that ends waits for PostgreSQL to take what its runs made.
LAST_SAVE_SECONDS = 10.0

__all__ = [
    "RunRefused",
    "drain",
    "end_if_withdrawn",
    "follow",
    "is_draining",
    "start",
    "stop",
]

_draining = asyncio.Event()
_forgotten = -FORGET_SECONDS
_saving: tuple[Saver, asyncio.Task[None]] | None = None


async def start(user: User, ask: Ask, terms: Terms = PAGE) -> Run:
    """Save a question and begin to answer it; asking twice with one id gives the first run.

    Raises RunRefused.
    """
    asked = time.monotonic()
    if _draining.is_set():
        message = gettext("The site is being restarted. Please ask again in a moment.")
        raise RunRefused("draining", message, recoverable=True)
    new = await _create(user, ask, terms)
    if new.question is None:
        return new.run
    meter = RunMeter(asked)
    log = RunLog(new.run.id, new.run.answer_id, meter.observe)
    log.begin(new.first)
    active = RUNS[new.run.id] = ActiveRun(new.run, new.question, log, meter, terms)
    names = {"run": new.run.id, "conversation": new.run.conversation_id, "user": new.run.user_id}
    with bound_contextvars(**{name: str(value) for name, value in names.items()}):
        if settings.LOG_QUESTIONS:
            logger.info("Asked: %s", ask.text)
        active.work = hold(_work(active), f"run {new.run.id}")
        wait_for_first_reader(active)
    if len(RUNS) == 1:
        hold(_heartbeat(), "run heartbeat")
    _saver()
    return new.run


async def _create(user: User, ask: Ask, terms: Terms) -> NewRun:
    """Save a question; with the strategy `interrupt`, in place of the one being answered."""
    while True:
        try:
            return await storing.create(user, ask, OWNER, terms)
        except RunRefused as refused:
            if refused.code != "busy" or terms.strategy != "interrupt":
                raise
        assert ask.conversation is not None  # noqa: S101 - what is new is not busy
        for run in await active_in(user, ask.conversation):
            await stop(user, run)
            async with aclosing(follow(user, run)) as frames:
                async for _ in frames:
                    pass  # until it has ended, in whatever process it is


def _saver() -> Saver:
    """Return what saves the runs of this process, at work."""
    global _saving  # noqa: PLW0603 - there is one a process
    if _saving is None or _saving[1].done():
        saver = Saver(lambda: [each.log for each in RUNS.values()])
        _saving = saver, hold(saver.work(), "save runs")
    return _saving[0]


async def look_ahead(user: User, message: Prefetch) -> asyncio.Task[Any] | None:
    """Search for what is being typed, unless PREFETCH is off. Raises RunRefused."""
    if not settings.PREFETCH:
        return None
    await allowance.check_looking(user, message.conversation)
    question = (await asking.find(user, message)).question
    if preparing.asks_generator(question):
        return None  # nobody pays for what may never be asked
    return await prefetch.begin(question.key, finding.look_ahead(question))


async def _work(active: ActiveRun) -> None:
    """Answer, and store how it ended, whatever happens and however long that takes."""
    active.producer = asyncio.create_task(_produce(active), name=f"answer {active.run.id}")
    if active.why_cancelled:
        active.producer.cancel()
    await asyncio.wait([active.producer])
    active.meter.provider_closed()
    state, ending = _outcome(active)
    generator = backends.generator()
    # One that only quotes does so whatever model is named.
    model = generator.model if generator.quotes_only else active.question.model or generator.model
    log = active.log
    tokens = await spending.spent(active.question, log, ending)
    log.end(ending, runstate.outcome(active.run.id, state, ending, model, tokens))
    _saver().soon()
    try:
        async with asyncio.timeout(END_SECONDS):
            await log.stored.wait()
    except TimeoutError:
        logger.warning("Run %s: its end is shown before it could be saved", active.run.id)
    log.show_end()
    active.ended.set()
    titling.title_later(active, state)
    try:
        await log.stored.wait()
    finally:
        if active.grace:
            active.grace.cancel()
        RUNS.pop(active.run.id, None)


async def _produce(active: ActiveRun) -> Done:
    """Put the answer's frames into the log; return the terminal one."""
    while active.run.state == RunState.QUEUED:
        if question := await storing.take_turn(active.run, active.question):
            active.question = question
        else:
            await asyncio.sleep(TURN_SECONDS)
    later = partial(late_grounding.store_later, active.log)
    async with aclosing(pipeline.answer(active.question, later)) as frames:
        async for frame in frames:
            if isinstance(frame, Done):
                return frame
            active.log.add(frame)
    raise BackendError("The answer broke off.", retryable=True, code="dropped")


def _outcome(active: ActiveRun) -> tuple[RunState, Done | Error]:
    """Return the state and the terminal frame that the producer's end means."""
    producer, log = active.producer, active.log
    assert producer is not None  # noqa: S101 - _work made it
    log.flush()
    if producer.cancelled() and active.why_cancelled == "drained":
        message = runstate.interrupted_message()
        return RunState.INTERRUPTED, Error(code="interrupted", message=message, recoverable=True)
    if producer.cancelled() and active.why_cancelled == "withdrawn":
        message = gettext("You may no longer see the documents that this answer draws on.")
        return RunState.FAILED, Error(code="access_lost", message=message, recoverable=False)
    if producer.cancelled():
        reason = Done(finish_reason="cancelled", answer=log.text, citations=log.citations)
        return RunState.CANCELLED, _addressed(reason, active)
    error = producer.exception()
    if error is None:
        return RunState.COMPLETED, _addressed(producer.result(), active)
    return RunState.FAILED, failure(error, f"Run {active.run.id}")


def _addressed(ending: Done, active: ActiveRun) -> Done:
    return ending.model_copy(update={"message_id": active.run.answer_id})


async def _heartbeat() -> None:
    """Renew the leases of this process's runs, and end those that others stopped or deleted."""
    away = False
    # A new run has a new lease, and its first words are waited for.
    while works := [each.work for each in RUNS.values()]:
        await asyncio.wait(works, timeout=HEARTBEAT_SECONDS)
        if not (asked_about := list(RUNS)):
            return
        try:
            kept = await in_thread(runstate.renew_leases, OWNER, asked_about)
        except DatabaseError as error:
            if not away:
                logger.warning("Could not renew the leases of %d runs: %s", len(RUNS), error)
            away = True
        else:
            away = False
            for run in asked_about:
                if (active := RUNS.get(run)) and kept.get(run, True):
                    active.cancel("stopped" if run in kept else "lost")
            await _forget_frames()


async def _forget_frames() -> None:
    """Delete frames of runs that ended long ago, once in a while."""
    global _forgotten  # noqa: PLW0603 - one a process
    if _forgotten + FORGET_SECONDS < time.monotonic():
        _forgotten = time.monotonic()
        with suppress(DatabaseError):
            await in_thread(runstate.forget_frames)


async def stop(user: User, run: UUID | None = None, ask: str | None = None) -> Run | None:
    """Stop a run of this user, in whatever process it is; stopping an ended run is a success.

    Returns once the provider's stream is closed and the partial answer saved, if the run is this
    process's; None if the user has no such run.
    """
    for active in RUNS.values():
        known = active.run.id == run if run else active.run.ask_id == ask
        if known and active.run.user_id == user.pk:
            active.cancel("stopped")
            await active.ended.wait()
            return active.run
    return await in_thread(runstate.request_stop, user, run, ask)


async def end_if_withdrawn(user: User, run: UUID) -> None:
    """End an answer that is written from what its reader may no longer see.

    Raises DatabaseError.
    """
    if await is_withdrawn(user, run):
        if active := RUNS.get(run):
            active.cancel("withdrawn")
        else:
            await stop(user, run)


async def drain(seconds: float) -> None:
    """Start no more runs, give those of this process that long to end, and interrupt the rest.

    Returns when all are stored with what was streamed, or PostgreSQL took nothing for
    LAST_SAVE_SECONDS. Cancelled, it leaves them as they are.
    """
    _draining.set()
    clock = asyncio.get_running_loop().time
    limit = clock() + seconds
    while RUNS and clock() < limit:
        await asyncio.wait([each.work for each in RUNS.values()], timeout=limit - clock())
    limit = max(limit, clock()) + LAST_SAVE_SECONDS
    while RUNS and clock() < limit:
        for each in RUNS.values():
            each.cancel("drained")
        await asyncio.wait([each.work for each in RUNS.values()], timeout=limit - clock())
    await late_grounding.settle(max(0.0, limit - clock()))
    await titling.drop()


def is_draining() -> bool:
    """Whether this process takes no more questions, because it is about to end."""
    return _draining.is_set()


async def active_in(user: User, conversation: UUID) -> list[UUID]:
    """Return the runs of a conversation that have not ended, oldest first. Raises RunRefused."""
    return await in_thread(runstate.active_in, user, conversation)
