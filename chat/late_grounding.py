"""What is found out about an answer when it has ended: it is stored, and there after a reload."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from chat.active import hold
from chat.answering import judging
from chat.answering.checking import AT_MOST_SECONDS
from chat.metrics import LATE_GROUNDINGS
from chat.saving import save_grounding

if TYPE_CHECKING:
    from chat.answering.judging import Judged
    from chat.models import Message
    from chat.runlog import RunLog

logger = logging.getLogger(__name__)

_tasks: set[asyncio.Task[None]] = set()


def store_later(log: RunLog, rest: Coroutine[Any, Any, Judged | None]) -> None:
    """Store what comes of `rest` once the answer itself is stored."""
    task = hold(_store(log, rest), f"check answer of run {log.run}")
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _store(log: RunLog, rest: Coroutine[Any, Any, Judged | None]) -> None:
    judged = await rest
    if judged is None:
        return
    await log.stored.wait()
    try:
        await save_grounding(log, judged.grounding, judged.tokens)
    except DatabaseError as error:
        logger.warning("Run %s: how its answer is grounded is not saved: %s", log.run, error)
    else:
        LATE_GROUNDINGS.labels(judged.grounding.verdict).inc()


def may_come(message: Message) -> bool:
    """Whether more may be found out about an answer, as `evidence.messages` has it, that has ended.

    What the generator has judged looks like what it has not, so it may as long as that can take.
    """
    run, citations = getattr(message, "run", None), message.citations.all()
    if not settings.GROUNDING or run is None or run.finished_at is None or not citations:
        return False
    longest = timedelta(seconds=AT_MOST_SECONDS + settings.REWRITE_TIMEOUT)
    unchecked = judging.is_on() or not all(each.support for each in citations)
    return unchecked and timezone.now() - run.finished_at < longest


async def settle(seconds: float) -> None:
    """Give what is being found out that long, and drop the rest."""
    if _tasks:
        _, late = await asyncio.wait(_tasks, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
