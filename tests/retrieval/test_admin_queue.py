"""The page of the queue."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from retrieval.ingestion.ledger import Reason, fail
from retrieval.ingestion.uploads import Upload
from retrieval.models import ErrorClass, IngestStage, Stage
from tests.retrieval.conftest import Staff

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]
QUEUE = "/admin/retrieval/document/queue/"
RETRY_ALL = "/admin/retrieval/document/retry-all/"
UploadFile = Callable[[str, bytes], Upload]


@pytest.fixture(autouse=True)
def _no_workers(db: None) -> None:
    """Forget the workers of tests that killed theirs."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_workers")


def start_worker() -> int:
    """Let a worker be heard of."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id")
        (worker,) = cursor.fetchone()
    return int(worker)


def page_of(client: Client) -> str:
    response = client.get(QUEUE)
    assert response.status_code == 200
    return response.content.decode()


def test_empty_queue_says_that_nothing_waits(admin_client: Client) -> None:
    """And that uploads would wait: no worker runs."""
    page = page_of(admin_client)
    assert "No worker runs." in page
    assert all(text in page for text in ("Nothing runs.", "Nothing waits.", "Nothing failed."))
    start_worker()
    assert "Nothing to do. 1 worker ready." in page_of(admin_client)


def test_running_documents_are_shown_with_their_worker(
    admin_client: Client, upload: UploadFile
) -> None:
    """Which one, in which stage, for how long, and where."""
    version = upload("a.txt", b"a").version
    waiting = upload("b.txt", b"b").version
    worker = start_worker()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s"
            " WHERE args->>'version_id' = %s",
            [worker, str(version.pk)],
        )
    version.stage = Stage.EXTRACTING
    version.save()
    IngestStage.objects.create(
        version=version, stage=Stage.EXTRACTING, attempt=2, worker="host:42",
        started_at=timezone.now() - timedelta(minutes=70, seconds=20),
    )  # fmt: skip
    response = admin_client.get(QUEUE)
    page = response.content.decode()
    (running,) = response.context["running"]
    assert running["queued"].version == version
    assert (running["lasting"], running["queued"].worker) == ("1 h 10 min", "host:42")
    assert [row["queued"].version for row in response.context["waiting"]] == [waiting]
    assert "1 worker at work" in page
    assert "host:42" in page


def test_failures_are_counted_by_their_reason(admin_client: Client, upload: UploadFile) -> None:
    """Each leads to the documents that failed so."""
    for name in ("a.txt", "b.txt"):
        fail(upload(name, b"a").version.pk, Reason("no-text", ErrorClass.FILE, "No text."))
    page = page_of(admin_client)
    assert "?stage=failed&amp;error=no-text" in page
    assert "Retry all failed (2)" in page


def test_everything_failed_is_retried_by_one_button(
    admin_client: Client, upload: UploadFile
) -> None:
    """What is ready or waits stays as it is."""
    failed, waiting = upload("a.txt", b"a").version, upload("b.txt", b"b").version
    fail(failed.pk, Reason("timeout", ErrorClass.FILE, "Took too long."))
    page = admin_client.post(RETRY_ALL, follow=True).content.decode()
    assert "1 document is queued again." in page
    failed.refresh_from_db()
    waiting.refresh_from_db()
    assert (failed.stage, waiting.stage) == (Stage.QUEUED, Stage.QUEUED)


def test_a_link_retries_nothing(admin_client: Client) -> None:
    assert admin_client.get(RETRY_ALL).status_code == 405


def test_permissions_are_needed(staff: Staff, upload: UploadFile) -> None:
    """To view, and to change for retrying."""
    version = upload("a.txt", b"a").version
    fail(version.pk, Reason("timeout", ErrorClass.FILE, "Took too long."))
    assert staff().get(QUEUE).status_code == 403
    viewer = staff("view_document")
    assert "Retry all" not in page_of(viewer)
    assert viewer.post(RETRY_ALL).status_code == 403
    version.refresh_from_db()
    assert version.stage == Stage.FAILED
    assert "Retry all" in page_of(staff("view_document", "change_document"))
