"""What is told of the queue, and what failed tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from retrieval import backends
from retrieval.backends.base import BackendError, Vectors
from retrieval.database import in_thread
from retrieval.ingestion import queue
from retrieval.ingestion.retrying import failed_versions, reingest, retry, retry_failed
from retrieval.ingestion.uploads import Upload, add_document
from retrieval.ingestion.worker import work_off
from retrieval.models import Collection, DocumentVersion, ErrorClass, IngestStage, Stage
from tests.fakes import HashEmbedder

pytestmark = pytest.mark.django_db(transaction=True)
Uploader = Callable[[str, bytes], Upload]
Run = Callable[[], None]


class RefusingEmbedder(HashEmbedder):
    """A provider that is away for now, or refuses for good."""

    def __init__(self, *, for_good: bool) -> None:
        super().__init__()
        self.error = BackendError("No.", not for_good, code="unauthorized")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise self.error


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    def refuse(for_good: bool) -> None:
        embedder = RefusingEmbedder(for_good=for_good)
        monkeypatch.setattr(backends, "embedder", lambda: embedder)

    return refuse


def test_empty_queue() -> None:
    """Nothing is left, and nothing is estimated."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_workers")  # those that tests killed
    found = queue.summary()
    assert (found.unfinished, found.failed, found.workers) == (0, 0, 0)
    assert (found.seconds_left, found.estimated_end) == (None, None)
    assert queue.unfinished() == []


def test_waiting_and_ready(upload: Uploader, run_worker: Run) -> None:
    """Waiting documents are counted, and listed by age; how long they take is estimated."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    waiting = [upload(f"{n}.txt", b"Text %d." % n).version for n in range(3)]
    found = queue.summary()
    assert (found.waiting, found.running, found.retrying) == (3, 0, 0)
    assert found.documents_a_minute > 0
    assert found.chunks_a_minute > 0
    assert found.seconds_left is not None
    assert found.seconds_left > 0
    listed = queue.unfinished(limit=2)
    assert [each.version for each in listed] == waiting[:2]
    assert not listed[0].running


async def test_running_is_told_with_its_progress(
    upload: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that is worked on: its stage, since when, by whom and how far."""
    waiting, gate = asyncio.Event(), asyncio.Event()

    class Gated(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            waiting.set()
            await gate.wait()
            return await super().embed_passages(texts)

    embedder = Gated()
    monkeypatch.setattr(backends, "embedder", lambda: embedder)
    version = (await in_thread(upload, "a.txt", b"Ducks swim.")).version
    task = asyncio.create_task(work_off())
    await waiting.wait()
    found = await in_thread(queue.summary)
    (listed,) = await in_thread(queue.unfinished)
    gate.set()
    await task
    assert (found.waiting, found.running) == (0, 1)
    assert (listed.version, listed.running, listed.attempt) == (version, True, 1)
    assert listed.version.stage == Stage.EMBEDDING
    assert listed.fraction == 0.0
    assert ":" in listed.worker


def test_waiting_for_another_try(
    upload: Uploader, run_worker: Run, refusing: Callable[[bool], None]
) -> None:
    """Told apart from what has not been begun, with when it is tried."""
    refusing(False)
    upload("a.txt", b"Ducks swim.")
    run_worker()
    found = queue.summary()
    assert (found.waiting, found.running, found.retrying) == (0, 0, 1)
    assert found.next_try is not None
    assert found.next_try > timezone.now()
    (listed,) = queue.unfinished()
    assert listed.next_try == found.next_try


def test_rate_is_that_of_the_last_minutes(upload: Uploader, run_worker: Run) -> None:
    """What was done yesterday says nothing of today."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    yesterday = timezone.now() - timedelta(days=1)
    IngestStage.objects.update(started_at=yesterday, ended_at=yesterday)
    assert queue.summary().documents_a_minute == 0


def test_failures_are_grouped(upload: Uploader, run_worker: Run) -> None:
    """By reason, the most frequent first; a document whose newer version is fine has none."""
    for name in ("a.pdf", "b.pdf"):
        upload(name, b"%PDF-")
    upload("c.txt", b"\n")
    upload("d.txt", b"\n")
    run_worker()
    upload("d.txt", b"Some text.")
    run_worker()
    groups = queue.failures()
    assert [(group.error_class, group.error_code, group.documents) for group in groups] == [
        ("file", "corrupt", 2), ("file", "empty", 1),
    ]  # fmt: skip
    assert queue.summary().failed == 3


def test_one_collection(upload: Uploader) -> None:
    """Each summary can be of one collection only."""
    from django.core.files.base import ContentFile  # noqa: PLC0415

    upload("a.txt", b"One.")
    other = Collection.objects.create(name="Other")
    version = add_document(other, "b.txt", ContentFile(b"Two.", "b.txt")).version
    assert queue.summary([other.pk]).waiting == 1
    assert [each.version for each in queue.unfinished(collections=[other.pk])] == [version]
    assert queue.failures([other.pk]) == []


def test_all_that_failed_is_retried(
    upload: Uploader, run_worker: Run, refusing: Callable[[bool], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """One call queues all of them; they go on where the provider refused them."""
    refusing(True)
    versions = [upload(f"{n}.txt", b"Text %d." % n).version for n in range(3)]
    run_worker()
    assert set(failed_versions()) == set(versions)
    fine = HashEmbedder()
    monkeypatch.setattr(backends, "embedder", lambda: fine)
    assert retry_failed() == 3
    assert retry_failed() == 0
    run_worker()
    for version in versions:
        version.refresh_from_db()
        assert (version.stage, version.error_class) == (Stage.READY, "")
        assert version.stages.filter(stage="extracting").count() == 1


def test_chosen_ones_are_retried(upload: Uploader, run_worker: Run) -> None:
    """Those of a queryset, from the start: the file may be read by what is installed now."""
    first, second = upload("a.pdf", b"%PDF-").version, upload("b.pdf", b"%PDF-").version
    run_worker()
    assert retry_failed(DocumentVersion.objects.filter(pk=first.pk)) == 1
    first.refresh_from_db()
    assert first.stage == Stage.QUEUED
    assert retry(second) is True
    assert retry(second) is False
    run_worker()
    assert first.stages.filter(stage="extracting", outcome="failed").count() == 2
    assert second.stages.last().error_class == ErrorClass.FILE


def test_reading_anew_what_waits_or_failed(upload: Uploader, run_worker: Run) -> None:
    """No second version is made of what is not done with the first."""
    waiting, failing = upload("a.txt", b"Text."), upload("b.pdf", b"%PDF-")
    assert reingest(waiting.document) == waiting.version
    run_worker()
    assert reingest(failing.document) == failing.version
    failing.version.refresh_from_db()
    assert failing.version.stage == Stage.QUEUED
    assert failing.document.versions.count() == 1
