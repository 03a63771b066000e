"""What is kept only for a time: which kinds of data there are, and letting go of what is old.

Apps add their kinds to `kinds` when they are loaded. The worker enforces them every hour.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from retrieval.audit.recording import Target, record

logger = logging.getLogger(__name__)

# Rows that go in one transaction: whoever is killed in between has lost and counted nothing twice.
BATCH = 500
# Held while it is enforced: two workers would wait for each other's rows.
LOCK = 0x65787069


def delete(rows: QuerySet[Any]) -> int:
    """Delete rows with all that belongs to them; return how many of them there were."""
    count = rows.count()
    rows.delete()
    return count


@dataclass(frozen=True)
class Kind:
    """A kind of data, and which rows of it are kept no longer."""

    name: str
    until: Callable[[], datetime | None]
    """The moment before which rows are old; None if they are kept."""
    old: Callable[[datetime], QuerySet[Any]]
    """The rows from before a moment; those that were removed are not among them any more."""
    remove: Callable[[QuerySet[Any]], int] = delete
    """Removes some of these rows and returns how many."""


kinds: list[Kind] = []


def days(setting: str) -> Callable[[], datetime | None]:
    """Return what says how long ago so many days are as a setting says; 0 is for ever."""

    def until() -> datetime | None:
        kept: int = getattr(settings, setting)
        return timezone.now() - timedelta(days=kept) if kept else None

    return until


def preview() -> dict[str, int]:
    """Return how many rows of each kind are kept no longer."""
    return {
        kind.name: kind.old(until).count() if (until := kind.until()) is not None else 0
        for kind in kinds
    }


def enforce() -> dict[str, int] | None:
    """Remove what is kept no longer; return how much of each kind, None if another does so now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            return None
        try:
            return {kind.name: _enforce(kind) for kind in kinds}
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def _enforce(kind: Kind) -> int:
    until, total = kind.until(), 0
    while until is not None and (removed := _remove_batch(kind, until)):
        total += removed
    if total:
        logger.info("No longer kept: %d %s", total, kind.name)
    return total


def _remove_batch(kind: Kind, until: datetime) -> int:
    """Remove a batch and record it in one transaction; return how many rows went."""
    with transaction.atomic():
        old = kind.old(until)
        keys: Sequence[Any] = list(old.values_list("pk", flat=True)[:BATCH])
        # Asked again: what was used in the meantime is not old any more.
        removed = kind.remove(kind.old(until).filter(pk__in=keys)) if keys else 0
        if removed:
            record(None, "retention.removed", Target("", "", kind.name), removed=removed)
    return removed
