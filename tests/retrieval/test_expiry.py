"""Letting go of what is old, a kind of data after the other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.utils import timezone

from retrieval import expiry
from retrieval.audit.models import AuditEvent
from retrieval.expiry import Kind

pytestmark = pytest.mark.django_db


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> Kind:
    """Make groups named old… the only kind of data there is."""
    kind = Kind(
        "groups",
        timezone.now,
        lambda _: Group.objects.filter(name__startswith="old").order_by("pk"),
    )
    monkeypatch.setattr(expiry, "kinds", [kind])
    monkeypatch.setattr(expiry, "BATCH", 2)
    Group.objects.bulk_create(Group(name=f"{age}{n}") for n in range(5) for age in ("old", "new"))
    return kind


def names() -> set[str]:
    """Return the ages of the groups made here; those of roles have other names."""
    return {name[:3] for name in Group.objects.values_list("name", flat=True)} & {"old", "new"}


def test_what_would_go_is_counted_and_stays(groups: Kind) -> None:
    assert expiry.preview() == {"groups": 5}
    assert names() == {"old", "new"}


def test_what_is_old_goes_in_batches_each_recorded(groups: Kind) -> None:
    assert expiry.enforce() == {"groups": 5}
    assert names() == {"new"}
    events = AuditEvent.objects.filter(action="retention.removed").order_by("at")
    assert [event.details["removed"] for event in events] == [2, 2, 1]
    assert {event.target_name for event in events} == {"groups"}


def test_a_second_time_there_is_nothing_to_do(groups: Kind) -> None:
    expiry.enforce()
    assert expiry.enforce() == {"groups": 0}


def test_who_is_ended_between_batches_has_recorded_what_went(
    groups: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(rows: Any) -> int:
        if AuditEvent.objects.filter(action="retention.removed").exists():
            raise KeyboardInterrupt
        return expiry.delete(rows)

    monkeypatch.setattr(expiry, "kinds", [Kind("groups", groups.until, groups.old, end)])
    with pytest.raises(KeyboardInterrupt):
        expiry.enforce()
    assert AuditEvent.objects.get(action="retention.removed").details == {"removed": 2}
    monkeypatch.setattr(expiry, "kinds", [groups])
    assert expiry.enforce() == {"groups": 3}


def test_a_kind_without_an_end_is_kept(groups: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "kinds", [Kind("groups", lambda: None, groups.old)])
    assert expiry.preview() == expiry.enforce() == {"groups": 0}
    assert names() == {"old", "new"}


def test_what_is_being_enforced_is_not_enforced_twice(groups: Kind) -> None:
    parameters = connection.get_connection_params()
    with psycopg.connect(**parameters) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [expiry.LOCK])
        assert expiry.enforce() is None
        other.execute("SELECT pg_advisory_unlock(%s)", [expiry.LOCK])
    assert expiry.enforce() == {"groups": 5}


def test_zero_days_are_for_ever(settings: Any) -> None:
    settings.AUDIT_DAYS = 0
    assert expiry.days("AUDIT_DAYS")() is None
    settings.AUDIT_DAYS = 2
    until = expiry.days("AUDIT_DAYS")()
    assert until is not None
    assert timedelta(days=2) <= timezone.now() - until < timedelta(days=2, minutes=5)
