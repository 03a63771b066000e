"""Real workers that are killed, or lose the database, in every stage; several side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from retrieval.database import in_thread
from retrieval.ingestion.uploads import Upload
from retrieval.models import ChunkEmbedding, IngestStage, Outcome, Stage
from tests.ingesting import (
    assert_whole,
    forget_heartbeats,
    until_stage,
    worker_process,
    working,
)
from tests.servers import Relay

pytestmark = pytest.mark.django_db(transaction=True)
LONG = b"A sentence of many words that says little. " * 4000
Uploader = Callable[[str, bytes], Upload]


@pytest.mark.parametrize(
    ("fault", "stage"),
    [
        ("queued", Stage.QUEUED),
        ("extracting", Stage.EXTRACTING),
        ("chunking", Stage.CHUNKING),
        ("embedding", Stage.EMBEDDING),
        ("finishing", Stage.FINISHING),
    ],
)
async def test_killed_worker_loses_nothing(upload: Uploader, fault: str, stage: Stage) -> None:
    """Kill -9 in a stage: the next worker goes on there by itself, and makes nothing twice."""
    version = (await in_thread(upload, "a.txt", LONG)).version
    async with worker_process(fault) as worker:
        await worker.until("stuck")
        await worker.kill()
    await version.arefresh_from_db()
    assert version.stage == stage
    kept = await ChunkEmbedding.objects.acount()
    await in_thread(forget_heartbeats)
    async with working():
        await until_stage(version, Stage.READY)
    await in_thread(assert_whole, version)
    entries = [entry async for entry in IngestStage.objects.filter(version=version)]
    tries = [entry.attempt for entry in entries if entry.outcome == Outcome.INTERRUPTED]
    assert tries == ([] if stage == Stage.QUEUED else [1])
    asked = sum(entry.counts["embedded"] for entry in entries if entry.stage == Stage.EMBEDDING)
    assert asked == version.chunk_count
    assert (kept > 0) == (stage in (Stage.EMBEDDING, Stage.FINISHING))


@pytest.fixture
def relay() -> Iterator[Relay]:
    """A way to PostgreSQL that can be cut."""
    relay = Relay(int(connection.settings_dict["PORT"]))
    relay.open()
    yield relay
    relay.cut()


async def test_database_that_goes_away_comes_back(upload: Uploader, relay: Relay) -> None:
    """A worker that loses PostgreSQL for seconds in mid-embedding goes on by itself."""
    version = (await in_thread(upload, "a.txt", LONG)).version
    async with worker_process("embedding", port=relay.port) as worker:
        await worker.until("stuck")
        await in_thread(relay.cut)
        worker.go_on()
        await worker.until("could not be reached")
        relay.open()
        await until_stage(version, Stage.READY)
        await in_thread(assert_whole, version)
