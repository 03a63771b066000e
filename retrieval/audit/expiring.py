"""How long the audit log, and the admin's own, are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import LogEntry

from retrieval.audit import removing
from retrieval.audit.models import AuditEvent
from retrieval.expiry import Kind, days

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet


def _events(until: datetime) -> QuerySet[Any]:
    return AuditEvent.objects.filter(at__lt=until).order_by("at")


def _entries(until: datetime) -> QuerySet[Any]:
    return LogEntry.objects.filter(action_time__lt=until).order_by("action_time")


KINDS = (
    Kind("audit events", days("AUDIT_DAYS"), _events, removing.remove),
    Kind("entries of the admin's log", days("AUDIT_DAYS"), _entries),
)
