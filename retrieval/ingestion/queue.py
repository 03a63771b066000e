"""What the queue of ingestion looks like now: for people who watch it, nothing is changed here."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob, ProcrastinateWorker

from retrieval.ingestion.retrying import failed_versions
from retrieval.ingestion.tasks import ingest_version
from retrieval.ingestion.worker import SILENT_SECONDS
from retrieval.models import ENDED, Collection, DocumentVersion, IngestStage, Outcome, Stage

Collections = QuerySet[Collection] | Iterable[uuid.UUID] | None

# The rate is that of the last minutes, or of what runs longer.
WINDOW = timedelta(minutes=10)


@dataclass(frozen=True)
class QueueSummary:
    """The queue in figures."""

    waiting: int
    """Versions that no worker has begun, those that are to be tried again not counted."""
    running: int
    retrying: int
    """Versions that wait for another try."""
    next_try: datetime | None
    failed: int
    """Documents whose newest version failed for good."""
    workers: int
    """Worker processes heard of lately; nothing goes on if there is none."""
    documents_a_minute: float
    chunks_a_minute: float
    seconds_left: float | None
    """An estimate by the bytes that are left; None if nothing is left or the rate is not known."""

    @property
    def unfinished(self) -> int:
        """How many versions are not ready yet."""
        return self.waiting + self.running + self.retrying

    @property
    def estimated_end(self) -> datetime | None:
        """When nothing will be left, as far as is known."""
        if self.seconds_left is None:
            return None
        return timezone.now() + timedelta(seconds=self.seconds_left)


@dataclass(frozen=True)
class QueuedVersion:
    """A version that is not ready yet, and what is being done about it."""

    version: DocumentVersion
    """With its document and collection, without its text."""
    running: bool
    since: datetime
    """When its stage began, if it runs; otherwise since when it waits."""
    attempt: int
    """Of the present stage, from 1; 0 if none has begun."""
    worker: str
    next_try: datetime | None
    """When it is tried again, if it waits for that."""

    @property
    def fraction(self) -> float | None:
        """The share of its chunks that is embedded, once there are chunks."""
        if not self.version.chunk_count:
            return None
        return self.version.embedded_count / self.version.chunk_count


@dataclass(frozen=True)
class FailureGroup:
    """Documents that failed for one reason."""

    error_class: str
    error_code: str
    message: str
    """Of one of them."""
    documents: int


def summary(collections: Collections = None) -> QueueSummary:
    """Return the queue in figures, of some collections or of all."""
    versions = _unfinished(collections)
    jobs = _jobs(versions.values_list("pk", flat=True))
    retrying = [job for job in jobs.values() if job["scheduled_at"]]
    running = sum(job["status"] == "doing" for job in jobs.values())
    failed = _failed(collections)
    documents, chunks, size = _rates(collections)
    left = _bytes_left(versions)
    return QueueSummary(
        waiting=versions.count() - running - len(retrying),
        running=running,
        retrying=len(retrying),
        next_try=min((job["scheduled_at"] for job in retrying), default=None),
        failed=failed.count(),
        workers=ProcrastinateWorker.objects.filter(
            last_heartbeat__gt=timezone.now() - timedelta(seconds=SILENT_SECONDS)
        ).count(),
        documents_a_minute=documents,
        chunks_a_minute=chunks,
        seconds_left=60 * left / size if left and size else None,
    )


def unfinished(limit: int = 100, collections: Collections = None) -> list[QueuedVersion]:
    """Return versions that are not ready yet: what runs first, then by age."""
    versions = list(_unfinished(collections).order_by("created_at"))
    jobs = _jobs([version.pk for version in versions])
    empty = {"status": "", "scheduled_at": None}
    found = [(version, jobs.get(str(version.pk), empty)) for version in versions]
    found.sort(key=lambda pair: (pair[1]["status"] != "doing", pair[1]["scheduled_at"] is not None))
    shown = found[:limit]
    entries = _last_entries([version.pk for version, _ in shown])
    return [_queued(version, job, entries.get(version.pk)) for version, job in shown]


def failures(collections: Collections = None) -> list[FailureGroup]:
    """Return why documents failed, the most frequent reason first."""
    failed = _failed(collections).order_by()
    groups: dict[tuple[str, str], list[str]] = {}
    for error_class, code, message in failed.values_list(
        "error_class", "error_code", "error_message"
    ):
        groups.setdefault((error_class, code), []).append(message)
    found = [
        FailureGroup(error_class, code, messages[0], len(messages))
        for (error_class, code), messages in groups.items()
    ]
    return sorted(found, key=lambda group: (-group.documents, group.error_code))


def _unfinished(collections: Collections) -> QuerySet[DocumentVersion]:
    versions = (
        DocumentVersion.objects.exclude(stage__in=ENDED)
        .filter(document__deleted_at__isnull=True)
        .select_related("document__collection")
        .defer("text", "metadata", "page_starts")
    )
    return _within(collections, versions)


def _failed(collections: Collections) -> QuerySet[DocumentVersion]:
    return _within(collections, failed_versions())


def _within(
    collections: Collections, versions: QuerySet[DocumentVersion]
) -> QuerySet[DocumentVersion]:
    if collections is None:
        return versions
    return versions.filter(document__collection__in=collections)


def _jobs(versions: Any) -> dict[str, dict[str, Any]]:
    """Return the jobs that wait or run, by the version they are for."""
    wanted = {str(key) for key in versions}
    jobs = ProcrastinateJob.objects.filter(
        task_name=ingest_version.name, status__in=("todo", "doing")
    ).order_by("-status")  # that which runs is the last, and the one that is kept
    rows = jobs.values("args__version_id", "status", "scheduled_at")
    return {
        row["args__version_id"]: {
            "status": row["status"],
            "scheduled_at": row["scheduled_at"] if row["status"] == "todo" else None,
        }
        for row in rows
        if row["args__version_id"] in wanted
    }


def _last_entries(versions: list[uuid.UUID]) -> dict[uuid.UUID, IngestStage]:
    entries = IngestStage.objects.filter(version__in=versions).order_by(
        "version_id", "-started_at", "-pk"
    )
    return {entry.version_id: entry for entry in entries.distinct("version_id")}


def _queued(
    version: DocumentVersion, job: dict[str, Any], entry: IngestStage | None
) -> QueuedVersion:
    running = job["status"] == "doing" and entry is not None and entry.ended_at is None
    waiting_since = entry.ended_at or entry.started_at if entry else version.created_at
    return QueuedVersion(
        version=version,
        running=running,
        since=entry.started_at if running and entry else waiting_since,
        attempt=entry.attempt if entry else 0,
        worker=entry.worker if running and entry else "",
        next_try=job["scheduled_at"],
    )


def _rates(collections: Collections) -> tuple[float, float, float]:
    """Return documents, chunks and bytes a minute."""
    now = timezone.now()
    entries = IngestStage.objects.filter(Q(ended_at__gt=now - WINDOW) | Q(ended_at=None))
    if collections is not None:
        entries = entries.filter(version__document__collection__in=collections)
    began = entries.order_by("started_at").values_list("started_at", flat=True).first()
    if began is None:
        return 0.0, 0.0, 0.0
    documents = entries.filter(stage=Stage.FINISHING, outcome=Outcome.DONE).aggregate(n=Count("pk"))
    chunks = size = 0.0
    for counts, total, each in entries.filter(stage=Stage.EMBEDDING).values_list(
        "counts", "version__chunk_count", "version__size"
    ):
        done = counts.get("embedded", 0) + counts.get("copied", 0)
        chunks += done
        size += each * min(1.0, done / total) if total else 0
    minutes = max((now - began).total_seconds(), 1.0) / 60
    return documents["n"] / minutes, chunks / minutes, size / minutes


def _bytes_left(versions: QuerySet[DocumentVersion]) -> float:
    rows = versions.values_list("size", "chunk_count", "embedded_count")
    return sum(size * (1 - min(1.0, done / total) if total else 1) for size, total, done in rows)
