"""The worker: runs the queue, and takes up again what a killed worker left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, cast

import psycopg
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone
from procrastinate import App, JobContext
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.models import ProcrastinateWorker
from procrastinate.exceptions import ConnectorException
from procrastinate.middleware import AsyncCallNext
from procrastinate.worker import Worker

from retrieval import expiry
from retrieval.backends import rate_limits
from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.ingestion import retention, spaces
from retrieval.ingestion.tasks import QUEUE, defer_filling, defer_ingestion, ingest_version
from retrieval.models import DocumentVersion, EmbeddingSpace, SpaceState

logger = logging.getLogger(__name__)

# A worker that is alive says so this often; one silent for longer is dead, and its jobs go on.
HEARTBEAT_SECONDS = 5
SILENT_SECONDS = 20
UPKEEP_SECONDS = 5
POLL_SECONDS = 2
RETENTION_SECONDS = 3600
# Running jobs have this long to end when the worker stops; then they go back into the queue.
STOP_SECONDS = 2
LONGEST_PAUSE = 30
# Jobs whose worker says nothing any more, back in the queue unless the same was queued anew; two
# workers that look share them.
TAKE_UP = """
SELECT lost.task_name, CASE
    WHEN EXISTS (
        SELECT FROM procrastinate_jobs AS anew
        WHERE anew.status = 'todo' AND anew.queueing_lock = lost.queueing_lock
    ) THEN procrastinate_finish_job_v1(lost.id, 'failed', true)
    ELSE procrastinate_retry_job_v2(lost.id, now(), NULL, NULL, NULL) END
FROM (
    SELECT job.id, job.task_name, job.queueing_lock
    FROM procrastinate_jobs AS job
    LEFT JOIN procrastinate_workers AS worker ON worker.id = job.worker_id
    WHERE job.status = 'doing' AND job.queue_name = %(queue)s AND (
        worker.id IS NULL OR worker.id = ANY(%(dead)s)
        OR worker.last_heartbeat < now() - make_interval(secs => %(silent)s)
    )
    FOR UPDATE OF job SKIP LOCKED
) AS lost
"""
# Versions that are not ready, and for which there is no job.
WITHOUT_JOB = """
SELECT version.id
FROM retrieval_documentversion AS version
JOIN retrieval_document AS document ON document.id = version.document_id
WHERE version.stage NOT IN ('ready', 'failed') AND document.deleted_at IS NULL
    AND NOT EXISTS (
        SELECT FROM procrastinate_jobs AS job
        WHERE job.task_name = %(task)s AND job.status IN ('todo', 'doing')
            AND job.args->>'version_id' = version.id::text
    )
"""


async def work(stop: asyncio.Event, *, concurrency: int = 2) -> None:
    """Run the queue until `stop` is set, through times when the database is away."""
    pause = 1
    own: set[int] = set()
    while not stop.is_set():
        try:
            await in_thread(take_up_lost, own)
            own.clear()
            async with _worker_app() as worker_app:
                await fill_spaces()
                await _work_until(stop, worker_app, concurrency, own)
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
    return running_workers() > 0


def running_workers() -> int:
    """Return how many workers, in all processes, have been heard of lately."""
    since = timezone.now() - timedelta(seconds=SILENT_SECONDS)
    return ProcrastinateWorker.objects.filter(last_heartbeat__gt=since).count()


def take_up_lost(dead: Collection[int] = ()) -> None:
    """Queue what nobody works on: jobs of workers that are silent or `dead`, versions without one.

    `dead` are workers of this process, by their ids, that have ended.
    """
    values: dict[str, Any] = {"queue": QUEUE, "dead": list(dead), "silent": SILENT_SECONDS}
    with connection.cursor() as cursor:
        cursor.execute(TAKE_UP, values)
        for task_name, _ in cursor.fetchall():
            logger.warning("The worker of a job is gone; %s goes on", task_name)
        cursor.execute(WITHOUT_JOB, {"task": ingest_version.name})
        lost = [version for (version,) in cursor.fetchall()]
    for version in DocumentVersion.objects.filter(pk__in=lost).only("id", "document_id"):
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


async def _work_until(
    stop: asyncio.Event, worker_app: App, concurrency: int, own: set[int]
) -> None:
    """Run a worker until told to stop; its id is added to `own` as soon as it has a job."""

    async def note(call_next: AsyncCallNext, context: JobContext, running: Worker) -> Any:
        if running.worker_id is not None:
            own.add(running.worker_id)
        return await call_next()

    worker = asyncio.create_task(
        worker_app.run_worker_async(
            queues=[QUEUE],
            concurrency=concurrency,
            install_signal_handlers=False,
            shutdown_graceful_timeout=STOP_SECONDS,
            fetch_job_polling_interval=POLL_SECONDS,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=SILENT_SECONDS,
            delete_jobs="successful",
            worker_middleware=[note],
        ),
        name="worker",
    )
    others = {
        asyncio.create_task(_upkeep(), name="upkeep"),
        asyncio.create_task(_keep_retention(), name="retention"),
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


async def _upkeep() -> None:
    """Take up what others left, and share the provider's limits with who works now."""
    while True:
        await in_thread(take_up_lost)
        await rate_limits.shared.share(await in_thread(running_workers))
        await asyncio.sleep(UPKEEP_SECONDS)


async def _keep_retention() -> None:
    """Let go of what is kept no longer, now and then."""
    while True:
        await in_thread(expiry.enforce)
        await in_thread(retention.enforce)
        await asyncio.sleep(RETENTION_SECONDS)
