"""What tests of ingestion share: workers, here and in other processes, and what they leave."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from retrieval.database import in_thread
from retrieval.ingestion.worker import work
from retrieval.models import ChunkEmbedding, DocumentVersion, EmbeddingSpace, SpaceState, Stage

ROOT = Path(__file__).resolve().parents[1]
# So small that a document of some pages takes several requests.
BATCH_TOKENS = 2000
PATIENCE = 120
# What its connections are known by.
APPLICATION = "a worker of the tests"
START = "import django; django.setup(); from tests import faults; faults.main()"


@asynccontextmanager
async def working() -> AsyncIterator[asyncio.Event]:
    """Run a worker in this process; it is stopped at the end, or by the event."""
    stop = asyncio.Event()
    task = asyncio.create_task(work(stop))
    try:
        yield stop
    finally:
        stop.set()
        await task


async def until_stage(version: DocumentVersion, stage: Stage) -> None:
    """Wait until a version is in a stage."""
    await _until(DocumentVersion.objects.filter(pk=version.pk, stage=stage))
    await version.arefresh_from_db()


async def until_searched(space: EmbeddingSpace) -> None:
    """Wait until a space is the one that is searched."""
    await _until(EmbeddingSpace.objects.filter(pk=space.pk, state=SpaceState.ACTIVE))


async def _until_disconnected() -> None:
    """Wait until PostgreSQL has noticed that a worker is gone."""
    async with asyncio.timeout(PATIENCE):
        while await in_thread(_connections):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def _connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = %s",
            [APPLICATION],
        )
        ((found,),) = cursor.fetchall()
    return int(found)


async def _until(wanted: QuerySet[Any]) -> None:
    """Wait until there is a row: the database tells nobody, so it is asked."""
    async with asyncio.timeout(PATIENCE):
        while not await wanted.aexists():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def assert_whole(version: DocumentVersion) -> None:
    """Every chunk is there once, with one vector, and the ledger is closed."""
    version.refresh_from_db()
    ordinals = list(version.chunks.order_by("ordinal").values_list("ordinal", flat=True))
    assert version.stage == Stage.READY
    assert ordinals == list(range(version.chunk_count))
    assert version.embedded_count == version.chunk_count
    assert ChunkEmbedding.objects.filter(chunk__version=version).count() == version.chunk_count
    assert not version.stages.filter(ended_at=None).exists()


def forget_heartbeats() -> None:
    """Let the time pass after which a silent worker counts as dead."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 h'")


class WorkerProcess:
    """A worker in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def until(self, words: str) -> None:
        """Wait until the worker says something."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while said := await self.process.stdout.readline():
                if words in said.decode():
                    return
        raise AssertionError(f"The worker ended without saying {words}.")

    def go_on(self) -> None:
        """Let a worker that is stuck go on."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")

    async def kill(self) -> None:
        """End it at once, as `kill -9` does."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        self.process._transport.close()  # type: ignore[attr-defined]


@asynccontextmanager
async def worker_process(
    fault: str = "", *, port: int | None = None, **environment: str
) -> AsyncIterator[WorkerProcess]:
    """Run a worker in a process of its own; it reaches PostgreSQL by `port` if that is given."""
    database = connection.settings_dict
    url = (
        f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:"
        f"{port or database['PORT']}/{database['NAME']}"
    )
    own = {
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "ragsite.settings",
        "PYTHONPATH": str(ROOT),
        "EMBEDDING_BATCH_TOKENS": str(BATCH_TOKENS),
        "EMBEDDING_REQUESTS_IN_FLIGHT": "1",
        "PGAPPNAME": APPLICATION,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", START, fault, str(settings.MEDIA_ROOT),
        cwd=ROOT, env=os.environ | own | environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    worker = WorkerProcess(process)
    try:
        yield worker
    finally:
        await worker.kill()
        await _until_disconnected()
