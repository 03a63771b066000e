"""What the worker does, as procrastinate tasks in the queue "ingest"."""

from __future__ import annotations

import asyncio
import logging
import math
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from procrastinate import BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued, JobAborted
from procrastinate.jobs import JobDeferrer

from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.ingestion import filling, indexes, ledger, pipeline, spaces
from retrieval.ingestion.errors import FetchError, StalledError
from retrieval.models import (
    ChunkEmbedding,
    DocumentVersion,
    EmbeddingSpace,
    ErrorClass,
    SpaceState,
)

if TYPE_CHECKING:
    from procrastinate.jobs import Job

logger = logging.getLogger(__name__)

QUEUE = "ingest"
# Waits grow to ten minutes: a provider may be away for about an hour.
MAX_ATTEMPTS = 12
MAX_WAIT = 600
# A document whose worker died so often may be what kills it.
GIVE_UP = 24
# Vectors that a space has before its index comes before the documents that wait.
INDEXED_AT = 10_000
PASSING = (OperationalError, InterfaceError)


class Retry(BaseRetryStrategy):
    """Tries again what can pass: a provider or the database that is away, a worker that stops."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Return when to try again, None if it is of no use."""
        if isinstance(exception, (JobAborted, asyncio.CancelledError)):
            return RetryDecision(retry_in={"seconds": 0})
        if job.attempts >= MAX_ATTEMPTS or not may_pass(exception):
            return None
        if isinstance(exception, PASSING):
            return RetryDecision(retry_in={"seconds": min(2**job.attempts, 30)})
        wait = min(5 * 2**job.attempts, MAX_WAIT)
        asked = getattr(exception, "retry_after", None) or 0
        return RetryDecision(retry_in={"seconds": math.ceil(max(asked, wait))})


def may_pass(error: BaseException) -> bool:
    """Whether the same may succeed later."""
    if isinstance(error, (BackendError, FetchError)):
        return error.retryable
    return isinstance(error, (*PASSING, StalledError))


@app.task(name="retrieval.ingest_version", queue=QUEUE, retry=Retry(), pass_context=True)
async def ingest_version(context: JobContext, version_id: str) -> None:
    """Ingest a version; what cannot pass ends it as failed, with the reason."""
    key = uuid.UUID(version_id)
    if context.job.attempts >= GIVE_UP:
        await in_thread(ledger.fail, key, ledger.INTERRUPTED)
        return
    try:
        async with _unless_stalled() as heard:
            space = await pipeline.ingest(key, heard)
    except Exception as error:
        # The edge: whatever a bug breaks, the document says so instead of staying half done.
        why = ledger.reason(error)
        if may_pass(error) and context.job.attempts < MAX_ATTEMPTS:
            logger.warning("Version %s waits: %s", key, why.message)
            with suppress(*PASSING):  # the database may still be away
                await in_thread(ledger.postpone, key, why)
            raise
        if why.error_class in (ErrorClass.INTERNAL, ErrorClass.DATABASE):
            logger.exception("Ingesting version %s failed", key)
        await in_thread(ledger.fail, key, why)
    else:
        if space is not None and not space.indexed:
            await defer_index(space)


@asynccontextmanager
async def _unless_stalled() -> AsyncIterator[Callable[[], None]]:
    """Raise StalledError when what is yielded has not been called for INGEST_STALLED_SECONDS."""
    now = asyncio.get_running_loop().time
    # Reading a file has limits of its own.
    reading = settings.EXTRACTION_TIMEOUT_SECONDS + settings.OCR_TIMEOUT_SECONDS
    patience = max(settings.INGEST_STALLED_SECONDS, 1.2 * reading)
    try:
        async with asyncio.timeout(patience) as limit:
            yield lambda: limit.reschedule(now() + patience)
    except TimeoutError as error:
        raise StalledError from error


@app.task(name="retrieval.build_index", queue=QUEUE, retry=Retry())
async def build_index(space_id: int) -> None:
    """Build a space's vector index."""
    space = await EmbeddingSpace.objects.filter(pk=space_id).afirst()
    if space is not None:
        await in_thread(indexes.build_index, space)


@app.task(name="retrieval.fill_space", queue=QUEUE, retry=Retry(), pass_context=True)
async def fill_space(context: JobContext, space_id: int | None = None) -> None:
    """Fill a space for a while, and switch to it when it is complete.

    A long filling is many short jobs of low priority: documents that were uploaded come between.
    """
    space = await EmbeddingSpace.objects.filter(state=SpaceState.FILLING, pk=space_id or 0).afirst()
    if space is None:
        return
    try:
        complete = await filling.fill(space)
    except BackendError as error:
        if error.retryable and context.job.attempts < MAX_ATTEMPTS:
            await in_thread(spaces.note_error, space, f"{error.message} Trying again.")
            raise
        await in_thread(spaces.fail, space, error.message)
    else:
        if not complete:
            await defer_filling(space)


async def defer_filling(space: EmbeddingSpace) -> None:
    """Queue the filling of a space, once."""
    with suppress(AlreadyEnqueued):
        await _filling(space).defer_async(space_id=space.pk)


def begin_filling(space: EmbeddingSpace) -> bool:
    """Let a space be filled and then searched; return whether it is searched already.

    Raises SpaceError, BackendError.
    """
    with transaction.atomic():
        if spaces.begin(space):
            return True
        with suppress(AlreadyEnqueued), transaction.atomic():
            _filling(space).defer(space_id=space.pk)
    return False


def _filling(space: EmbeddingSpace) -> JobDeferrer:
    lock = f"fill:{space.pk}"
    return fill_space.configure(queueing_lock=lock, lock=lock, priority=-10)


async def defer_index(space: EmbeddingSpace) -> None:
    """Queue the building of a space's index, once: after the documents that wait, if it is small.

    Few vectors are compared as quickly one by one, and to build an index over many at once takes
    a fraction of what it takes to add each to one.
    """
    vectors = ChunkEmbedding.objects.filter(space=space)[:INDEXED_AT]
    urgent = await vectors.acount() == INDEXED_AT
    task = build_index.configure(
        queueing_lock=f"index:{space.pk}:{urgent}",
        lock=f"index:{space.pk}",
        priority=10 if urgent else -5,
    )
    with suppress(AlreadyEnqueued):
        await task.defer_async(space_id=space.pk)


def defer_ingestion(version: DocumentVersion) -> None:
    """Queue a version, within the caller's transaction; one version of a document at a time."""
    task = ingest_version.configure(
        lock=f"document:{version.document_id}", queueing_lock=f"version:{version.pk}"
    )
    with suppress(AlreadyEnqueued), transaction.atomic():
        task.defer(version_id=str(version.pk))
