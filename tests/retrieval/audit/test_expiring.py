"""How long the audit log is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.utils import timezone

from retrieval import expiry
from retrieval.audit.models import AuditEvent
from tests.conversations import person

pytestmark = pytest.mark.django_db


def test_the_audit_log_and_that_of_the_admin_are_kept_as_long_as_set(settings: Any) -> None:
    settings.AUDIT_DAYS = 30
    for days in (31, 29):
        at = timezone.now() - timedelta(days=days)
        AuditEvent.objects.create(action="file.downloaded", at=at)
        entry = LogEntry.objects.create(user=person(f"p{days}"), action_flag=CHANGE)
        LogEntry.objects.filter(pk=entry.pk).update(action_time=at)
    expiry.enforce()
    kept = AuditEvent.objects.filter(action="file.downloaded")
    assert [(timezone.now() - event.at).days for event in kept] == [29]
    assert [entry.user.get_username() for entry in LogEntry.objects.all()] == ["p29"]
