"""The ledger of a document for reading: what was done with it, when, and how long it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone

from retrieval.models import IngestStage, Outcome

if TYPE_CHECKING:
    from datetime import timedelta

    from retrieval.models import Document

# Rows that are shown: retries by the hour could make more.
ROWS = 100
# How the pills of the admin are coloured.
PILLS = {
    Outcome.RUNNING: "running",
    Outcome.DONE: "ready",
    Outcome.RETRIED: "waiting",
    Outcome.FAILED: "failed",
    Outcome.INTERRUPTED: "waiting",
}


@dataclass(frozen=True)
class Entry:
    """A try at a stage; `took` and `counts` are for reading, `pill` is the colour's name."""

    stage: IngestStage
    took: str
    counts: str
    pill: str


def entries(document: Document) -> list[Entry]:
    """Return the tries at the stages of all versions of a document, newest first."""
    stages = IngestStage.objects.filter(version__document=document).select_related("version")
    newest = stages.defer("version__text", "version__metadata").order_by("-started_at", "-pk")
    return [
        Entry(
            stage,
            took=lasting((stage.ended_at or timezone.now()) - stage.started_at),
            counts=", ".join(_count(name, value) for name, value in stage.counts.items() if value),
            pill=PILLS.get(Outcome(stage.outcome), "waiting"),
        )
        for stage in newest[:ROWS]
    ]


def lasting(span: timedelta) -> str:
    """Return how long something took: "0.4 s", "2 min 5 s", "3 h 10 min", "2 days"."""
    seconds = max(span.total_seconds(), 0)
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{seconds} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 1:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} days"


def _count(name: str, value: object) -> str:
    number = f"{value:,}" if isinstance(value, (int, float)) else str(value)
    return f"{number} {name.replace('_', ' ')}"
