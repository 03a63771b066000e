"""The worker: retries, stopping, and what it takes up again."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from django.conf import settings
from django.db import connection
from procrastinate.contrib.django.models import ProcrastinateJob

from retrieval import backends
from retrieval.backends.base import BackendError, Vectors
from retrieval.database import in_thread
from retrieval.ingestion import tasks
from retrieval.ingestion.tasks import fill_space
from retrieval.ingestion.uploads import Upload
from retrieval.ingestion.worker import take_up_lost, work_off
from retrieval.models import EmbeddingSpace, Stage
from tests.fakes import HashEmbedder
from tests.ingesting import BATCH_TOKENS, assert_whole, until_stage, working

pytestmark = pytest.mark.django_db(transaction=True)
LONG = b"A sentence of many words that says little. " * 4000


class FailingEmbedder(HashEmbedder):
    """Raises what `errors` holds, one a call, then works."""

    errors: list[BackendError]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.errors:
            raise self.errors.pop(0)
        return await super().embed_passages(texts)


class GatedEmbedder(HashEmbedder):
    """Embeds one batch, then waits for the gate."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting, self.gate = asyncio.Event(), asyncio.Event()
        self.calls = self.embedded = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls > 1:
            self.waiting.set()
            await self.gate.wait()
        self.embedded += len(texts)
        return await super().embed_passages(texts)


def use(monkeypatch: pytest.MonkeyPatch, embedder: HashEmbedder) -> None:
    monkeypatch.setattr(backends, "embedder", lambda: embedder)


def test_passing_error_is_tried_again(
    upload: Callable[[str, bytes], Upload],
    run_worker: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A provider that is away costs time, not the document; meanwhile the reason is shown."""
    embedder = FailingEmbedder()
    embedder.errors = [BackendError("Too many requests.", True, code="rate_limited")]
    use(monkeypatch, embedder)
    version = upload("a.txt", b"Some text.").version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_code) == (Stage.EMBEDDING, "rate_limited")
    job = ProcrastinateJob.objects.get(args__version_id=str(version.pk))
    assert (job.status, job.attempts) == ("todo", 1)
    assert job.scheduled_at is not None
    make_due()
    run_worker()
    version.refresh_from_db()
    assert version.error_code == ""
    assert_whole(version)


def test_lasting_error_ends_it(
    upload: Callable[[str, bytes], Upload],
    run_worker: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What will not pass is not tried again: the document fails with the provider's reason."""
    embedder = FailingEmbedder()
    embedder.errors = [BackendError("The key is wrong.", False, code="unauthorized")]
    use(monkeypatch, embedder)
    version = upload("a.txt", b"Some text.").version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_code) == (Stage.FAILED, "unauthorized")
    assert version.error_message == "The key is wrong."


def test_bug_ends_in_failed(
    upload: Callable[[str, bytes], Upload],
    run_worker: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever goes wrong, no document is left half done, and no exception text is shown."""

    def broken(*args: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("retrieval.ingestion.pipeline._chunk", broken)
    version = upload("a.txt", b"Some text.").version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_code) == (Stage.FAILED, "internal")
    assert "secret" not in version.error_message


def make_due() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET scheduled_at = now() WHERE status = 'todo'")


async def test_stop_requeues_what_runs(
    upload: Callable[[str, bytes], Upload], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that stops in mid-embedding gives the job back; the next one goes on from there."""
    embedder = GatedEmbedder()
    use(monkeypatch, embedder)
    monkeypatch.setattr(settings, "EMBEDDING_BATCH_TOKENS", BATCH_TOKENS)
    monkeypatch.setattr(settings, "EMBEDDING_REQUESTS_IN_FLIGHT", 1)
    monkeypatch.setattr("retrieval.ingestion.worker.STOP_SECONDS", 0.1)
    version = (await in_thread(upload, "a.txt", LONG)).version
    async with working():
        await embedder.waiting.wait()
    job = await ProcrastinateJob.objects.aget(args__version_id=str(version.pk))
    assert job.status == "todo"
    await version.arefresh_from_db()
    assert (version.stage, version.embedded_count) == (Stage.EMBEDDING, embedder.embedded)
    use(monkeypatch, HashEmbedder())
    async with working():
        await until_stage(version, Stage.READY)
    await in_thread(assert_whole, version)


def test_lost_job_is_replaced(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None]
) -> None:
    """A version whose job vanished is queued again, one that has its job is left alone."""
    lost, fine = upload("a.txt", b"One.").version, upload("b.txt", b"Two.").version
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM procrastinate_jobs WHERE args->>'version_id' = %s", [str(lost.pk)]
        )
    take_up_lost()
    for version in (lost, fine):
        assert ProcrastinateJob.objects.filter(args__version_id=str(version.pk)).count() == 1


def test_a_lost_job_gives_way_to_the_same_that_was_queued_anew() -> None:
    """A worker that starts queues the filling that a killed one had begun."""
    filling = fill_space.configure(queueing_lock="fill:0", lock="fill:0")
    jobs = ProcrastinateJob.objects.filter(queueing_lock="fill:0")
    lose = "UPDATE procrastinate_jobs SET status = 'doing' WHERE queueing_lock = 'fill:0'"
    for anew in (True, False):
        if anew:
            filling.defer(space_id=0)
        with connection.cursor() as cursor:
            cursor.execute(lose)
        if anew:
            filling.defer(space_id=0)
        take_up_lost()
        assert jobs.get().status == "todo"


@pytest.mark.parametrize(("at", "priority"), [(1, 10), (2, -5)])
async def test_a_large_index_comes_before_the_documents_that_wait_and_a_small_one_after(
    at: int,
    priority: int,
    upload: Callable[[str, bytes], Upload],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is built once; in between each vector is compared."""
    await in_thread(upload, "a.txt", b"One.")
    monkeypatch.setattr(tasks, "INDEXED_AT", at)
    await work_off()
    space = await EmbeddingSpace.objects.aget()
    for _ in range(2):
        await tasks.defer_index(space)
    jobs = ProcrastinateJob.objects.filter(task_name=tasks.build_index.name, status="todo")
    assert [job.priority async for job in jobs] == [priority]


async def test_jobs_run_side_by_side(upload: Callable[[str, bytes], Upload]) -> None:
    """Several documents at a time are each ingested once."""
    versions = [(await in_thread(upload, f"{n}.txt", b"Text %d." % n)).version for n in range(6)]
    await work_off(concurrency=3)
    for version in versions:
        await in_thread(assert_whole, version)
