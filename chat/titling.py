"""The generator's titles of new conversations, made when the first answer has been shown."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError

from chat.active import hold
from chat.answering import titles
from chat.models import RunState
from chat.saving import save_title
from retrieval.backends.base import BackendError
from retrieval.backends.completion import writes

if TYPE_CHECKING:
    from chat.active import ActiveRun

logger = logging.getLogger(__name__)

# Titles that are made at once; conversations beyond that keep those of their questions.
MOST = 4

_tasks: set[asyncio.Task[None]] = set()


def is_on() -> bool:
    """Whether the generator gives conversations their titles; one that quotes cannot."""
    return settings.TITLES and writes()


def title_later(active: ActiveRun, state: RunState) -> None:
    """Have a conversation named whose first answer is complete: that is never waited for."""
    begins = state == RunState.COMPLETED and not active.question.history
    if begins and is_on() and len(_tasks) < MOST:
        task = hold(_title(active), f"name conversation {active.run.conversation_id}")
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)


async def _title(active: ActiveRun) -> None:
    # What it takes is charged beside what the answer took.
    await active.log.stored.wait()
    try:
        title = await titles.by_generator(active.question.text, active.question.model)
        await save_title(active.run, title.text, title.tokens)
    except BackendError as error:
        logger.info("Run %s: its conversation is not named: %s", active.run.id, error.message)
    except DatabaseError as error:
        logger.warning("Run %s: its conversation's name is not saved: %s", active.run.id, error)


async def drop() -> None:
    """Leave the rest as they are: the process ends."""
    left = list(_tasks)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
