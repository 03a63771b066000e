"""What was used of what may be used, and when it may be used again: as SQL, and for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from retrieval.limits.allowed import defaults
from retrieval.limits.quantities import BY_NAME, UNLIMITED, Quantity

LAST_MINUTE = "asked_at > statement_timestamp() - interval '1 minute'"


@dataclass(frozen=True)
class Counting:
    """How a quantity is counted: SQL for what was used, and for when some of it is free again.

    Both may use the columns of `allowed`.
    """

    quantity: Quantity
    used: str
    resets_at: str = "NULL::timestamptz"


def questions(quantity: Quantity, whose: str) -> Counting:
    """Count questions of the last minute; `whose` is a condition on a charge."""
    last_minute = f"FROM limits_charge WHERE {whose} AND {LAST_MINUTE}"
    return Counting(
        quantity,
        used=f"SELECT count(*) {last_minute}",
        # When the one leaves the window that has to, so that another may be asked.
        resets_at=f"SELECT asked_at + interval '1 minute' {last_minute} ORDER BY asked_at DESC"
        f" OFFSET greatest(allowed.{quantity.name} - 1, 0) LIMIT 1",
    )


def tokens(quantity: Quantity, whose: str) -> Counting:
    """Count the tokens of today's answers; `whose` is a condition on a charge."""
    return Counting(
        quantity,
        used="SELECT coalesce(sum(tokens), 0)::bigint FROM limits_charge"
        f" WHERE {whose} AND asked_at >= %(today)s",
        resets_at="%(tomorrow)s::timestamptz",
    )


def uploads(quantity: Quantity, user: str = "%(user)s") -> Counting:
    """Count the files that were uploaded today; `user` is SQL for the id of who did."""
    return Counting(
        quantity,
        used="SELECT count(*) FROM limits_storedfile"
        f" WHERE user_id = {user} AND uploaded_at >= %(today)s",
        resets_at="%(tomorrow)s::timestamptz",
    )


def storage(quantity: Quantity, user: str = "%(user)s") -> Counting:
    """Count the bytes of files that somebody uploaded and that are still there."""
    return Counting(
        quantity,
        used="SELECT coalesce(sum(version.size), 0)::bigint FROM limits_storedfile AS stored"
        " JOIN retrieval_documentversion AS version ON version.id = stored.version_id"
        f" WHERE stored.user_id = {user}",
    )


def metered(
    allowed: str,
    countings: Sequence[Counting],
    *,
    unlimited: bool = False,
    shared: bool = False,
) -> str:
    """Return a query of a row for each counting, of the columns that `Meter` has.

    `allowed` is a query of `allowed.allowed`. What has no limit is not counted, 0, unless
    `unlimited`: most people have none, and need not wait. `shared` is what several people use.
    """
    rows = []
    for counting in countings:
        name = counting.quantity.name
        limited = f"CASE WHEN allowed.{name} < {UNLIMITED} THEN"
        used = f"({counting.used})" if unlimited else f"{limited} ({counting.used}) ELSE 0 END"
        resets_at = f"{limited} ({counting.resets_at}) END"
        rows.append(f"('{name}', {used}, allowed.{name}, {resets_at})")
    return (
        f"SELECT meter.*, {shared} AS shared FROM ({allowed}) AS allowed CROSS JOIN LATERAL"
        f" (VALUES {', '.join(rows)}) AS meter (quantity, used, allowed, resets_at)"
    )


@dataclass(frozen=True)
class Meter:
    """A quantity: what was used of it, what may be, and when some of it is free again."""

    quantity: Quantity
    used: int
    allowed: int
    resets_at: datetime | None = None
    shared: bool = False

    @property
    def is_full(self) -> bool:
        """Whether nothing more may be used."""
        return self.used >= self.allowed

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.allowed < UNLIMITED

    @property
    def share(self) -> float:
        """How much of what is allowed was used, from 0 to 1."""
        return min(1.0, self.used / self.allowed) if self.allowed else 1.0

    @property
    def words(self) -> str:
        """What was used and what may be, for people."""
        used = self.quantity.words(self.used)
        return f"{used} of {self.quantity.words(self.allowed)}" if self.is_limited else used


def meters(rows: Iterable[tuple[Any, ...]]) -> list[Meter]:
    """Return the meters that rows of `metered` are."""
    return [Meter(BY_NAME[name], *values) for name, *values in rows]


def parameters() -> dict[str, Any]:
    """Return the parameters of `metered` that are not about a person."""
    return {**defaults(), "today": today(), "tomorrow": tomorrow()}


def today() -> datetime:
    """Return when the day began, in TIME_ZONE."""
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)


def tomorrow() -> datetime:
    """Return when the next day begins, in TIME_ZONE: that may be 23 or 25 hours later."""
    return today() + timedelta(days=1)


def seconds_until(moment: datetime) -> int:
    """Return how long it is until then, in whole seconds, 1 at least."""
    return max(1, round((moment - timezone.now()).total_seconds()))


def when(moment: datetime) -> str:
    """Say when something resets: in so many seconds or minutes, or at what time."""
    seconds = seconds_until(moment)
    if seconds < 120:
        return f"in {seconds} second{'' if seconds == 1 else 's'}"
    if seconds < 2 * 3600:
        return f"in {round(seconds / 60)} minutes"
    return f"at {timezone.localtime(moment):%H:%M} ({settings.TIME_ZONE})"
