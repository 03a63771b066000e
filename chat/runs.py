"""Runs: one question being answered, by a task of this process that belongs to nobody's socket.

`start` a run, `follow` its frames from anywhere, `stop` it from anywhere. A run goes on for
RUN_GRACE_SECONDS after its last reader left. PostgreSQL decides what is true: the owner renews a
lease there, and learns there that another process wants it to stop.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError
from django.utils.translation import gettext
from structlog.contextvars import bound_contextvars

from chat import asking, runstate
from chat.answering import pipeline, prefetch
from chat.asking import NewRun
from chat.frames import TERMINAL, Ask, Done, Error, Frame, Prefetch, Status
from chat.metrics import RunMeter
from chat.models import ACTIVE, Run, RunState
from chat.runlog import RunLog
from chat.runstate import RunRefused
from retrieval import backends
from retrieval.backends.base import BackendError
from retrieval.database import in_thread

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

OWNER = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
# How often the owner renews its leases and looks for requests to stop.
HEARTBEAT_SECONDS = 0.5
# How often a reader looks for frames of a run that another process works on.
POLL_SECONDS = 0.25
# Whoever asked has this long to begin reading, however short the grace period is.
FIRST_READER_SECONDS = 10.0

__all__ = ["RunRefused", "drain", "follow", "is_draining", "start", "stop"]

WhyCancelled = Literal["stopped", "abandoned", "drained"]


@dataclass(eq=False)
class ActiveRun:
    """A run that this process works on."""

    run: Run
    question: pipeline.Question
    log: RunLog
    meter: RunMeter
    readers: int = 0
    why_cancelled: WhyCancelled | None = None
    producer: asyncio.Task[Done] | None = None
    work: asyncio.Task[None] = field(init=False)
    grace: asyncio.TimerHandle | None = None

    def cancel(self, why: WhyCancelled) -> None:
        """End the answer where it is; what was streamed stays."""
        self.why_cancelled = self.why_cancelled or why
        self.meter.cancelled(why)
        if self.producer is not None:
            self.producer.cancel()


_active: dict[UUID, ActiveRun] = {}
_tasks: set[asyncio.Task[None]] = set()
_draining = asyncio.Event()


async def start(user: User, ask: Ask) -> Run:
    """Save a question and begin to answer it; asking twice with one id gives the first run.

    Raises RunRefused.
    """
    asked = time.monotonic()
    if _draining.is_set():
        message = gettext("The site is being restarted. Please ask again in a moment.")
        raise RunRefused("draining", message, recoverable=True)
    new: NewRun = await in_thread(asking.create, user, ask, OWNER)
    if new.question is None:
        return new.run
    meter = RunMeter(asked)
    log = RunLog(new.run.id, new.run.answer_id, meter.observe)
    active = ActiveRun(new.run, new.question, log, meter)
    _active[new.run.id] = active
    active.log.add(
        Status(
            stage="queued",
            message=gettext("Question received"),
            ask=ask.id,
            conversation=new.run.conversation_id,
            question=new.run.question_id,
            answer=new.run.answer_id,
        )
    )
    names = {"run": new.run.id, "conversation": new.run.conversation_id, "user": user.pk}
    with bound_contextvars(**{name: str(value) for name, value in names.items()}):
        active.work = _hold(_work(active), f"run {new.run.id}")
        _wait_for_readers(active, max(settings.RUN_GRACE_SECONDS, FIRST_READER_SECONDS))
        _hold(active.log.save_as_it_grows(), f"save run {new.run.id}")
    if len(_active) == 1:
        _hold(_heartbeat(), "run heartbeat")
    return new.run


async def look_ahead(user: User, message: Prefetch) -> asyncio.Task[Any] | None:
    """Search for what is being typed, unless PREFETCH is off. Raises RunRefused."""
    if not settings.PREFETCH:
        return None
    question = await in_thread(asking.prepare, user, message)
    return await prefetch.begin(question.key, pipeline.look_ahead(question))


def _hold(coroutine: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Run a background task that is referenced until it ends."""
    task = asyncio.create_task(coroutine, name=name)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return task


async def _work(active: ActiveRun) -> None:
    """Answer, and store how it ended, whatever happens."""
    active.producer = asyncio.create_task(_produce(active), name=f"answer {active.run.id}")
    if active.why_cancelled:
        active.producer.cancel()
    await asyncio.wait([active.producer])
    active.meter.provider_closed()
    state, ending = _outcome(active)
    model = active.question.model or backends.generator().model
    record = partial(runstate.finish, active.run.id, state, ending, model)
    try:
        await active.log.end(ending, record)
    except DatabaseError:
        logger.exception("Run %s: could not store how it ended", active.run.id)
    finally:
        if active.grace:
            active.grace.cancel()
        _active.pop(active.run.id, None)


async def _produce(active: ActiveRun) -> Done:
    """Put the answer's frames into the log; return the terminal one."""
    async with aclosing(pipeline.answer(active.question)) as frames:
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
    if producer.cancelled():
        reason = Done(finish_reason="cancelled", answer=log.text, citations=log.citations)
        return RunState.CANCELLED, _addressed(reason, active)
    error = producer.exception()
    if error is None:
        return RunState.COMPLETED, _addressed(producer.result(), active)
    if isinstance(error, BackendError):
        logger.warning("Run %s: %s (%s)", active.run.id, error.message, error.code)
        return RunState.FAILED, Error(
            code=error.code, message=error.message, recoverable=error.retryable
        )
    logger.error("Run %s failed", active.run.id, exc_info=error)
    message = gettext("Something went wrong on our side. Please try again.")
    return RunState.FAILED, Error(code="internal", message=message, recoverable=True)


def _addressed(ending: Done, active: ActiveRun) -> Done:
    return ending.model_copy(update={"message_id": active.run.answer_id})


async def _heartbeat() -> None:
    """Renew the leases of this process's runs, and stop those that others asked to stop."""
    with suppress(DatabaseError):
        await in_thread(runstate.forget_frames)
    while _active:
        try:
            stopping = await in_thread(runstate.renew_leases, OWNER, list(_active))
        except DatabaseError:
            logger.exception("Could not renew the leases of %d runs", len(_active))
            stopping = []
        for run in stopping:
            if active := _active.get(run):
                active.cancel("stopped")
        if works := [each.work for each in _active.values()]:
            await asyncio.wait(works, timeout=HEARTBEAT_SECONDS)


async def stop(user: User, run: UUID | None = None, ask: str | None = None) -> Run | None:
    """Stop a run of this user, in whatever process it is; stopping an ended run is a success.

    Returns once the provider's stream is closed and the partial answer saved, if the run is this
    process's; None if the user has no such run.
    """
    found = await in_thread(runstate.request_stop, user, run, ask)
    active = _active.get(found.id) if found else None
    if active:
        active.cancel("stopped")
        await asyncio.wait([active.work])
    return found


async def drain(seconds: float) -> None:
    """Start no more runs, give those of this process that long to end, and interrupt the rest.

    Returns when all are stored with what was streamed. Cancelled, it leaves them as they are.
    """
    _draining.set()
    limit = asyncio.get_running_loop().time() + seconds
    while _active:
        left = limit - asyncio.get_running_loop().time()
        if left <= 0:
            for each in _active.values():
                each.cancel("drained")
        works = [each.work for each in _active.values()]
        await asyncio.wait(works, timeout=max(left, 0) or None)


def is_draining() -> bool:
    """Whether this process takes no more questions, because it is about to end."""
    return _draining.is_set()


async def active_in(user: User, conversation: UUID) -> UUID | None:
    """Return the run that is being answered in a conversation. Raises RunRefused."""
    return await in_thread(runstate.active_in, user, conversation)


async def follow(user: User, run_id: UUID, after: int = 0) -> AsyncGenerator[Frame]:
    """Yield a run's frames behind number `after`: stored ones, then live ones, to the end.

    A client that cannot be brought up to date frame by frame gets a snapshot. Raises RunRefused
    for a run that is not there or somebody else's.
    """
    run = await in_thread(Run.objects.filter(id=run_id, user=user).first)
    if run is None:
        raise RunRefused("not_found", gettext("There is no such answer."))
    active = _active.get(run_id)
    frames = _follow_here(active, after) if active else _follow_stored(run, after)
    async with aclosing(frames):
        async for frame in frames:
            yield frame


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
            _wait_for_readers(active, settings.RUN_GRACE_SECONDS)


def _wait_for_readers(active: ActiveRun, seconds: float) -> None:
    """Cancel the run unless somebody reads it within that time."""

    def check() -> None:
        if not active.readers and not active.work.done():
            _hold(_abandon(active), f"abandon run {active.run.id}")

    loop = asyncio.get_running_loop()
    active.grace = loop.call_later(seconds, check)


async def _abandon(active: ActiveRun) -> None:
    elsewhere = await in_thread(
        runstate.was_read_within, active.run.id, settings.RUN_GRACE_SECONDS + 2 * POLL_SECONDS
    )
    if active.readers:
        return
    if elsewhere:
        _wait_for_readers(active, settings.RUN_GRACE_SECONDS)
    else:
        active.cancel("abandoned")


async def _follow_stored(run: Run, after: int) -> AsyncGenerator[Frame]:
    """Yield frames from the database, of an ended run or of one that another process works on."""
    position = after
    while True:
        # The state first: what is stored when it has ended is all there will be.
        state = await in_thread(_current_state, run.id)
        for frame in await in_thread(runstate.stored_frames, run.id, position):
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
