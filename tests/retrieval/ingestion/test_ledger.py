"""The ledger: every try at a stage, with its counts and its error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from retrieval import backends
from retrieval.backends.base import BackendError, Vectors
from retrieval.database import in_thread
from retrieval.ingestion import ledger, tasks
from retrieval.ingestion.errors import ExtractionError, FetchError, StalledError
from retrieval.ingestion.retention import delete
from retrieval.ingestion.retrying import retry
from retrieval.ingestion.uploads import Upload
from retrieval.ingestion.worker import work_off
from retrieval.models import Document, DocumentVersion, ErrorClass, Outcome, Stage
from tests.fakes import HashEmbedder

pytestmark = pytest.mark.django_db(transaction=True)
Uploader = Callable[[str, bytes], Upload]
Run = Callable[[], None]


class FailingEmbedder(HashEmbedder):
    """Raises what `errors` holds, one a call, then works."""

    def __init__(self, *errors: BackendError) -> None:
        super().__init__()
        self.errors = list(errors)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.errors:
            raise self.errors.pop(0)
        return await super().embed_passages(texts)


def entries(version: DocumentVersion) -> list[tuple[str, int, str]]:
    return [(entry.stage, entry.attempt, entry.outcome) for entry in version.stages.all()]


def make_due() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET scheduled_at = now() WHERE status = 'todo'")


def test_every_stage_has_an_entry(upload: Uploader, run_worker: Run) -> None:
    """Start, end and counts of each stage are written down."""
    version = upload("a.txt", b"Ducks swim. " * 200).version
    run_worker()
    found = list(version.stages.all())
    assert [(entry.stage, entry.attempt, entry.outcome) for entry in found] == [
        ("extracting", 1, "done"), ("chunking", 1, "done"),
        ("embedding", 1, "done"), ("finishing", 1, "done"),
    ]  # fmt: skip
    assert all(entry.ended_at and entry.ended_at >= entry.started_at for entry in found)
    assert all(entry.worker == ledger.WORKER for entry in found)
    version.refresh_from_db()
    extracting, chunking, embedding, _ = (entry.counts for entry in found)
    assert extracting == {"characters": len(version.text), "pages": 0}
    assert chunking == {"chunks": version.chunk_count}
    assert embedding["embedded"] == version.chunk_count
    assert embedding["tokens"] > 300


def test_provider_that_limits_is_waited_for(
    upload: Uploader, run_worker: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A 429 with Retry-After: the try is in the ledger, the next one comes when it may."""
    limited = BackendError("Too many requests.", True, code="rate_limited", retry_after=90)
    embedder = FailingEmbedder(limited)
    monkeypatch.setattr(backends, "embedder", lambda: embedder)
    version = upload("a.txt", b"Ducks swim.").version
    run_worker()
    entry = version.stages.get(stage="embedding")
    assert (entry.outcome, entry.error_code, entry.error_class, entry.message) == (
        Outcome.RETRIED, "rate_limited", ErrorClass.PROVIDER, "Too many requests.",
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM scheduled_at - now()) FROM procrastinate_jobs"
            " WHERE args->>'version_id' = %s",
            [str(version.pk)],
        )
        ((wait,),) = cursor.fetchall()
    assert 80 < wait <= 91
    make_due()
    run_worker()
    assert entries(version)[-3:] == [
        ("embedding", 1, "retried"), ("embedding", 2, "done"), ("finishing", 1, "done"),
    ]  # fmt: skip


def test_what_cannot_pass_is_tried_once(upload: Uploader, run_worker: Run) -> None:
    """A broken file fails at its first try, and the ledger says that the file is to blame."""
    version = upload("a.pdf", b"%PDF-").version
    run_worker()
    version.refresh_from_db()
    (entry,) = version.stages.all()
    assert (entry.outcome, entry.error_code, entry.error_class) == ("failed", "corrupt", "file")
    assert (version.stage, version.error_class) == (Stage.FAILED, ErrorClass.FILE)
    assert version.error_message == entry.message


@pytest.mark.parametrize(
    ("error", "error_class", "again"),
    [
        (ExtractionError("corrupt"), ErrorClass.FILE, False),
        (FetchError("not-found", "Gone."), ErrorClass.ADDRESS, False),
        (FetchError("unreachable", "Away.", retryable=True), ErrorClass.ADDRESS, True),
        (BackendError("No.", False), ErrorClass.PROVIDER, False),
        (BackendError("Later.", True), ErrorClass.PROVIDER, True),
        (OperationalError("secret"), ErrorClass.DATABASE, True),
        (StalledError(), ErrorClass.INTERNAL, True),
        (ValueError("secret"), ErrorClass.INTERNAL, False),
    ],
)
def test_errors_are_told_apart(error: Exception, error_class: ErrorClass, again: bool) -> None:
    """What it lies in, whether it may pass, and nothing of an exception's own text."""
    why = ledger.reason(error)
    assert (why.error_class, tasks.may_pass(error)) == (error_class, again)
    assert "secret" not in why.message


async def test_stalled_ingestion_is_taken_up_again(
    upload: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that never ends does not hold a document for ever."""

    class Silent(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            await asyncio.Event().wait()
            raise AssertionError

    silent = Silent()
    monkeypatch.setattr(backends, "embedder", lambda: silent)
    monkeypatch.setattr(settings, "INGEST_STALLED_SECONDS", 2)
    monkeypatch.setattr(settings, "EXTRACTION_TIMEOUT_SECONDS", 1)
    monkeypatch.setattr(settings, "OCR_TIMEOUT_SECONDS", 0)
    version = (await in_thread(upload, "a.txt", b"Ducks swim.")).version
    await work_off()
    entry = await version.stages.aget(stage="embedding")
    assert (entry.outcome, entry.error_code) == (Outcome.RETRIED, "stalled")
    fine = HashEmbedder()
    monkeypatch.setattr(backends, "embedder", lambda: fine)
    await in_thread(make_due)
    await work_off()
    await version.arefresh_from_db()
    assert version.stage == Stage.READY


def test_document_that_kills_its_worker_is_given_up(upload: Uploader, run_worker: Run) -> None:
    """After as many interruptions as nobody has by chance, it fails, and can be retried by hand."""
    version = upload("a.txt", b"Ducks swim.").version
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET attempts = %s", [tasks.GIVE_UP])
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_code) == (Stage.FAILED, "interrupted")
    assert retry(version)
    run_worker()
    version.refresh_from_db()
    assert version.stage == Stage.READY


def test_deleted_document_stops_its_ingestion(upload: Uploader, run_worker: Run) -> None:
    """Whoever ingests a document that is deleted meanwhile finds it gone, and writes nothing."""
    taken = upload("a.txt", b"Ducks swim.")
    delete(Document.objects.filter(pk=taken.document.pk))
    with pytest.raises(ledger.VersionGoneError):
        ledger.take_up(taken.version, Stage.EXTRACTING)
    run_worker()
    assert not DocumentVersion.objects.exists()
