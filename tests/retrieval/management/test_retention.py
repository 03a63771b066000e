"""`manage.py retention`: what would go, and letting it go."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from retrieval import expiry
from retrieval.audit.models import AuditEvent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _old_event(settings: Any) -> None:
    settings.AUDIT_DAYS = 30
    AuditEvent.objects.create(action="old", at=timezone.now() - timedelta(days=31))


def retention(*args: str) -> str:
    output = StringIO()
    call_command("retention", *args, stdout=output, stderr=StringIO())
    return output.getvalue()


def old_events() -> int:
    return AuditEvent.objects.filter(action="old").count()


def test_a_dry_run_says_what_would_go() -> None:
    answer = json.loads(retention("--dry-run", "--json"))
    counts = {kind["kind"]: kind["rows"] for kind in answer["kinds"]}
    assert answer["removed"] is False
    assert counts["audit events"] == 1
    assert counts["conversations"] == 0
    assert old_events() == 1


def test_what_went_is_told() -> None:
    assert "1 audit events" in retention()
    assert old_events() == 0
    assert AuditEvent.objects.get(action="retention.removed").details == {"removed": 1}


def test_it_is_refused_while_a_worker_does_it() -> None:
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [expiry.LOCK])
        with pytest.raises(CommandError, match="being done now"):
            retention()
    assert old_events() == 1
