"""Real workers that are killed, or lose the database, in every stage; several side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from retrieval.database import in_thread
from retrieval.ingestion.uploads import Upload
from retrieval.models import (
    ChunkEmbedding,
    EmbeddingSpace,
    IngestStage,
    Outcome,
    SpaceState,
    Stage,
)
from tests.ingesting import (
    assert_whole,
    forget_heartbeats,
    until_searched,
    until_stage,
    worker_process,
    working,
)
from tests.provider import Provider
from tests.servers import Relay

pytestmark = pytest.mark.django_db(transaction=True)
LONG = b" ".join(b"Sentence %d has many words, and says little." % n for n in range(4000))
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
    assert sum(entry.counts.get("embedded", 0) for entry in entries) == version.chunk_count
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


async def test_two_workers_share_the_work(upload: Uploader, provider: Provider) -> None:
    """Each document is ingested once, and each passage embedded once, whoever does it."""
    texts = [b"Text %d is about ducks." % number for number in range(40)]
    versions = [(await in_thread(upload, f"{text}.txt", text)).version for text in texts]
    environment = {
        "EMBEDDER": "openai", "EMBEDDING_MODEL": "nomic-embed-text", "EMBEDDING_DIMENSIONS": "64",
        "OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": "secret",
    }  # fmt: skip
    async with worker_process(**environment) as one, worker_process(**environment) as other:
        for version in versions:
            await until_stage(version, Stage.READY)
        workers = {entry.worker async for entry in IngestStage.objects.all()}
        await one.kill()
        await other.kill()
    for version in versions:
        await in_thread(assert_whole, version)
    asked = [text for request in provider.requests for text in request.body["input"]]
    assert len(asked) == len(set(asked)) == len(texts)
    assert len(workers) == 2
    assert not await IngestStage.objects.exclude(outcome=Outcome.DONE, attempt=1).aexists()


async def test_filling_goes_on_after_a_kill(upload: Uploader, provider: Provider) -> None:
    """A worker killed while it fills a space: the next one fills the rest, and switches."""
    version = (await in_thread(upload, "a.txt", LONG)).version
    async with working():
        await until_stage(version, Stage.READY)
    environment = {
        "EMBEDDER": "openai", "EMBEDDING_MODEL": "nomic-embed-text", "EMBEDDING_DIMENSIONS": "64",
        "OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": "secret",
    }  # fmt: skip
    async with worker_process("filling", **environment) as worker:
        await worker.until("stuck")
        await worker.kill()
    filling = await EmbeddingSpace.objects.aget(state=SpaceState.FILLING)
    await in_thread(forget_heartbeats)
    async with worker_process(**environment):
        await until_searched(filling)
    vectors = ChunkEmbedding.objects.filter(space=filling)
    assert await vectors.acount() == version.chunk_count
    asked = [text for request in provider.requests for text in request.body["input"]]
    assert len(set(asked)) == version.chunk_count
