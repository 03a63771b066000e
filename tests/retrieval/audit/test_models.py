"""The audit log keeps what is written to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from retrieval.audit import removing
from retrieval.audit.models import AuditEvent
from retrieval.audit.recording import Target, record
from tests.conversations import person

pytestmark = pytest.mark.django_db


def event(days: int = 0, **fields: object) -> AuditEvent:
    return AuditEvent.objects.create(
        action="file.downloaded", at=timezone.now() - timedelta(days=days), **fields
    )


def execute(sql: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


@pytest.mark.parametrize(
    "change",
    [
        lambda: AuditEvent.objects.update(action="nothing"),
        lambda: AuditEvent.objects.all().delete(),
        lambda: execute("UPDATE audit_auditevent SET details = '{}'"),
        lambda: execute("DELETE FROM audit_auditevent"),
    ],
)
def test_postgresql_refuses_to_change_or_delete_an_event(change: Callable[[], object]) -> None:
    kept = event(days=10)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change()
    kept.refresh_from_db()
    assert kept.action == "file.downloaded"


def test_postgresql_refuses_to_empty_the_table() -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        execute("TRUNCATE audit_auditevent")


def test_retention_may_delete_what_is_old_but_nothing_of_today() -> None:
    old, new = event(days=2), event()
    assert removing.remove([old.pk]) == 1
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        removing.remove([new.pk])
    assert [*AuditEvent.objects.all()] == [new]


def test_what_one_transaction_may_a_later_statement_may_not() -> None:
    removing.remove([event(days=2).pk])
    event(days=2)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEvent.objects.all().delete()


def test_who_is_gone_has_a_pseudonym_and_no_address() -> None:
    ada, bob = person("ada"), person("bob")
    record(ada, "login.succeeded", ada, request={"client": ("192.0.2.7", 1)})
    record(bob, "file.downloaded", Target("retrieval.documentversion", "1", "ada.pdf"))
    removing.forget_person(ada.pk)
    by_ada = AuditEvent.objects.get(action="login.succeeded")
    assert by_ada.actor_name == by_ada.target_name == f"deleted user {ada.pk}"
    assert (by_ada.actor_id, by_ada.address) == (ada.pk, None)
    by_bob = AuditEvent.objects.get(action="file.downloaded")
    assert (by_bob.actor_name, by_bob.target_name) == ("bob", "ada.pdf")


@pytest.mark.parametrize(
    "fields",
    [
        {"actor_name": "bob"},
        {"actor_name": "deleted user 8"},
        {"target_name": "b.pdf"},
        {"target_name": "deleted user 1"},
        {"address": "192.0.2.8"},
    ],
)
def test_erasure_lets_nobody_have_another_name(fields: dict[str, str]) -> None:
    event(
        actor_id=7,
        actor_name="ada",
        target_type="retrieval.document",
        target_id="1",
        target_name="a.pdf",
        address="192.0.2.7",
    )
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        removing._permitting("erasure"),
    ):
        AuditEvent.objects.update(**fields)


def test_erasure_may_leave_no_name_at_all() -> None:
    event(actor_id=7, actor_name="ada", target_name="a.pdf", address="192.0.2.7")
    with removing._permitting("erasure"):
        AuditEvent.objects.update(actor_name="", target_name="", address=None)


def test_erasure_may_change_names_only() -> None:
    event()
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        removing._permitting("erasure"),
    ):
        AuditEvent.objects.update(action="nothing")
