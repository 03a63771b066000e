"""The worker: runs the queue, and takes up again what a killed worker left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import cast

import psycopg
from django.db import Error as DatabaseError
from django.utils import timezone
from procrastinate import App
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.models import ProcrastinateJob, ProcrastinateWorker
from procrastinate.exceptions import ConnectorException

from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.ingestion import spaces
from retrieval.ingestion.pipeline import ENDED
from retrieval.ingestion.tasks import QUEUE, defer_filling, defer_ingestion, ingest_version
from retrieval.models import DocumentVersion, EmbeddingSpace, SpaceState

logger = logging.getLogger(__name__)

# A worker that is alive says so this often; one silent for longer is dead, and its jobs go on.
HEARTBEAT_SECONDS = 5
SILENT_SECONDS = 20
UPKEEP_SECONDS = 5
# Running jobs have this long to end when the worker stops; then they go back into the queue.
STOP_SECONDS = 2
LONGEST_PAUSE = 30


async def work(stop: asyncio.Event, *, concurrency: int = 2) -> None:
    """Run the queue until `stop` is set, through times when the database is away."""
    pause = 1
    while not stop.is_set():
        try:
            await in_thread(requeue_lost)
            async with _worker_app() as worker_app:
                await fill_spaces()
                await _work_until(stop, worker_app, concurrency)
            pause = 1
        except (DatabaseError, psycopg.Error, ConnectorException) as error:
            logger.warning("The database is away (%s); trying again", type(error).__name__)
        if not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause)
            pause = min(2 * pause, LONGEST_PAUSE)


async def work_off(*, concurrency: int = 1) -> None:
    """Run the jobs that are due, and return."""
    async with _worker_app() as worker_app:
        await worker_app.run_worker_async(
            queues=[QUEUE], wait=False, concurrency=concurrency, install_signal_handlers=False
        )


def is_running() -> bool:
    """Whether some worker, in any process, has been heard of lately."""
    since = timezone.now() - timedelta(seconds=SILENT_SECONDS)
    return ProcrastinateWorker.objects.filter(last_heartbeat__gt=since).exists()


def requeue_lost() -> None:
    """Queue versions that wait for a job that does not exist (any more)."""
    jobs = ProcrastinateJob.objects.filter(
        task_name=ingest_version.name, status__in=("todo", "doing")
    )
    known = set(jobs.values_list("args__version_id", flat=True))
    waiting = DocumentVersion.objects.exclude(stage__in=ENDED).only("id", "document_id")
    for version in waiting.iterator():
        if str(version.pk) not in known:
            logger.warning("Version %s had no job; queued again", version.pk)
            defer_ingestion(version)


@asynccontextmanager
async def _worker_app() -> AsyncIterator[App]:
    """Give the app a connector of its own: Django's cannot listen."""
    connector = cast("DjangoConnector", app.connector).get_worker_connector()
    with app.replace_connector(connector) as worker_app:
        async with worker_app.open_async():
            yield worker_app


async def fill_spaces() -> None:
    """Go on filling, and begin to if the settings name another embedding model than before."""
    try:
        begun = await in_thread(spaces.notice_configured)
    except (BackendError, spaces.SpaceError) as error:
        logger.error("The embedding model of the settings is not used: %s", error)  # noqa: TRY400
    else:
        if begun is not None:
            logger.info("Embedding the documents by %s", begun)
    async for space in EmbeddingSpace.objects.filter(state=SpaceState.FILLING):
        await defer_filling(space)


async def _work_until(stop: asyncio.Event, worker_app: App, concurrency: int) -> None:
    worker = asyncio.create_task(
        worker_app.run_worker_async(
            queues=[QUEUE],
            concurrency=concurrency,
            install_signal_handlers=False,
            shutdown_graceful_timeout=STOP_SECONDS,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=SILENT_SECONDS,
            delete_jobs="successful",
        ),
        name="worker",
    )
    others = {
        asyncio.create_task(_upkeep(worker_app), name="upkeep"),
        asyncio.create_task(stop.wait(), name="stop"),
    }
    try:
        await asyncio.wait({worker, *others}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (worker, *others):
            task.cancel()
        results = await asyncio.gather(worker, *others, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


async def _upkeep(worker_app: App) -> None:
    """Take up jobs whose worker was killed, again and again."""
    while True:
        manager = worker_app.job_manager
        for job in await manager.get_stalled_jobs(
            queue=QUEUE, seconds_since_heartbeat=SILENT_SECONDS
        ):
            logger.warning("The worker of job %s is gone; the job goes on", job.call_string)
            await manager.retry_job(job)
        await asyncio.sleep(UPKEEP_SECONDS)
