"""Filling a space with vectors of what is searched, a while at a time."""

from __future__ import annotations

import logging
import time

from procrastinate.contrib.django.models import ProcrastinateJob

from retrieval.database import in_thread
from retrieval.ingestion import indexes, spaces
from retrieval.ingestion.embedding import Embedded, embed_missing
from retrieval.models import EmbeddingSpace, SpaceState

logger = logging.getLogger(__name__)

# How long a job fills before others may come between, and whether it is still wanted is asked.
SLICE_SECONDS = 10.0


async def fill(space: EmbeddingSpace) -> bool:
    """Embed for a while what a space lacks, and switch to it when that is nothing.

    Return False if there is more to do. Raises BackendError.
    """
    until = time.monotonic() + SLICE_SECONDS
    embedded = 0

    def count(done: Embedded) -> None:
        nonlocal embedded
        embedded += done.chunks

    def go_on() -> bool:
        """Do at least one batch; then let documents that wait go first."""
        if not embedded:
            return True
        return time.monotonic() < until and not _others_wait() and _wanted(space)

    done = await embed_missing(spaces.searched_chunks(), space, stored=count, go_on=go_on)
    if embedded:
        await in_thread(spaces.note_error, space, "")
        logger.info("Embedded %d more chunks by %s", embedded, space)
    if not done:
        return False
    await in_thread(indexes.build_index, space)
    return await in_thread(spaces.finish, space)


def _others_wait() -> bool:
    """Whether jobs of a higher priority are due."""
    return ProcrastinateJob.objects.filter(
        status="todo", priority__gte=0, scheduled_at__isnull=True
    ).exists()


def _wanted(space: EmbeddingSpace) -> bool:
    return EmbeddingSpace.objects.filter(pk=space.pk, state=SpaceState.FILLING).exists()
