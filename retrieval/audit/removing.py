"""The two ways in which the audit log may change: what is old goes, and who is gone is unnamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.contrib.admin.models import LogEntry
from django.db import connection, transaction
from django.db.models import Q

from retrieval.audit.models import AuditEvent

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

USER = "auth.user"


def pseudonym(key: int | str | None) -> str:
    """Return what somebody is called whose account is deleted."""
    return f"deleted user {key}"


def forget_person(key: int, names: Iterable[str] = ()) -> int:
    """Replace a person's name by a pseudonym and drop their addresses; return how many events.

    The admin's own log, of what was done to their account, says no more either, nor does any entry
    that is about something called by one of `names`.
    """
    by_them = Q(actor_id=key)
    about_them = Q(target_type=USER, target_id=str(key))
    with _permitting("erasure"):
        events = AuditEvent.objects.filter(by_them).update(actor_name=pseudonym(key), address=None)
        events += AuditEvent.objects.filter(about_them).update(target_name=pseudonym(key))
    entries = LogEntry.objects.filter(object_id=str(key), content_type__model="user")
    entries.filter(content_type__app_label="auth").update(
        object_repr=pseudonym(key), change_message=""
    )
    LogEntry.objects.filter(object_repr__in=[*names]).update(object_repr=pseudonym(key))
    return events


def remove(keys: Collection[UUID]) -> int:
    """Delete events that are older than a day; PostgreSQL refuses to delete younger ones."""
    with _permitting("retention"):
        return AuditEvent.objects.filter(pk__in=keys).delete()[0]


@contextmanager
def _permitting(what: str) -> Iterator[None]:
    """Open a transaction in which the table's trigger permits one thing."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('ragsite.audit', %s, true)", [what])
        yield
        # The transaction may be a part of one that goes on.
        cursor.execute("SELECT set_config('ragsite.audit', '', true)")
