"""Waiting for what was queued, and working the queue oneself as long as no worker does."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from retrieval.database import in_thread
from retrieval.ingestion.worker import is_running, work
from retrieval.models import ENDED, DocumentVersion

POLL_SECONDS = 0.3
# How often it is looked for a worker that has ended.
LOOK_SECONDS = 1.0


async def wait(
    versions: Sequence[uuid.UUID], progress: Callable[[Counter[str], int], None]
) -> None:
    """Return when all versions have ended, or are gone."""
    async with worker_if_none() as worker:
        while True:
            stages, chunks = await in_thread(stages_of, versions)
            progress(stages, chunks)
            if all(stage in ENDED for stage in stages):
                return
            if worker.done():
                worker.result()
            await asyncio.sleep(POLL_SECONDS)


@asynccontextmanager
async def worker_if_none() -> AsyncIterator[asyncio.Task[None]]:
    """Work the queue in a task from when there is no worker, to the end of the context."""
    stop = asyncio.Event()
    worker = asyncio.create_task(_stand_in(stop), name="own worker")
    try:
        yield worker
    finally:
        stop.set()
        await worker


async def _stand_in(stop: asyncio.Event) -> None:
    while not stop.is_set():
        if not await in_thread(is_running):
            await work(stop)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), LOOK_SECONDS)


def stages_of(versions: Sequence[uuid.UUID]) -> tuple[Counter[str], int]:
    """Return how many of the versions are in each stage, and how many chunks are embedded."""
    rows = DocumentVersion.objects.filter(pk__in=versions).values_list("stage", "embedded_count")
    stages: Counter[str] = Counter()
    chunks = 0
    for stage, embedded in rows:
        stages[stage] += 1
        chunks += embedded
    return stages, chunks
