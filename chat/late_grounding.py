"""What is found out about an answer when it has ended: it is stored, and there after a reload."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError

from chat.active import hold
from chat.metrics import LATE_GROUNDINGS
from chat.saving import save_grounding

if TYPE_CHECKING:
    from chat.answering.judging import Judged
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


async def settle(seconds: float) -> None:
    """Give what is being found out that long, and drop the rest."""
    if _tasks:
        _, late = await asyncio.wait(_tasks, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
