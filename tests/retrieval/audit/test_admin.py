"""The audit log in admin."""

from __future__ import annotations

import asyncio
import csv
import io
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from retrieval.audit.models import AuditEvent
from retrieval.audit.recording import Target, record
from tests.conversations import person

pytestmark = pytest.mark.django_db
LIST = "/admin/audit/auditevent/"


@pytest.fixture
def auditor(client: Client) -> Client:
    user = person("audra", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_auditevent"))
    client.force_login(user)
    return client


def exported(response: Any) -> list[dict[str, str]]:
    async def collect() -> bytes:
        return b"".join([piece async for piece in response])

    return list(csv.DictReader(io.StringIO(asyncio.run(collect()).decode())))


def test_who_may_reads_the_log_and_changes_nothing(auditor: Client) -> None:
    event = record(None, "file.downloaded", Target("retrieval.document", "1", "Towers"))
    assert "Towers" in auditor.get(LIST).content.decode()
    page = auditor.get(f"{LIST}{event.pk}/change/").content.decode()
    assert "file.downloaded" in page
    assert 'name="_save"' not in page
    for door in (f"{LIST}add/", f"{LIST}{event.pk}/delete/"):
        assert auditor.get(door).status_code == 403
    assert auditor.post(f"{LIST}{event.pk}/change/", {"action": "x"}).status_code == 403


def test_who_may_not_sees_nothing(client: Client) -> None:
    client.force_login(person("sam", is_staff=True))
    assert client.get(LIST).status_code == 403
    assert client.get(f"{LIST}export/").status_code == 403


def test_the_list_is_searched_and_filtered(auditor: Client) -> None:
    record(None, "file.downloaded", Target("retrieval.document", "1", "Towers"))
    record(None, "document.deleted", Target("retrieval.document", "2", "Bridges"))
    found = auditor.get(f"{LIST}?q=bridges").content.decode()
    assert "Bridges" in found
    assert "Towers" not in found
    assert "Bridges" not in auditor.get(f"{LIST}?action=file.downloaded").content.decode()


@pytest.mark.django_db(transaction=True)
def test_what_is_listed_can_be_saved_and_that_is_recorded(auditor: Client) -> None:
    record(None, "file.downloaded", Target("retrieval.document", "1", "=HYPERLINK(1)\u202e"))
    record(None, "document.deleted")
    response = auditor.get(f"{LIST}export/?action=file.downloaded")
    assert response["Content-Type"].startswith("text/csv")
    assert "attachment" in response["Content-Disposition"]
    (row,) = exported(response)
    assert row["target_name"] == r"'=HYPERLINK(1)\u202e"
    event = AuditEvent.objects.get(action="audit.exported")
    assert (event.actor_name, event.details) == ("audra", {"filters": ["action"]})


def test_a_filter_that_is_none_leads_back_to_the_list(auditor: Client) -> None:
    assert auditor.get(f"{LIST}export/?nonsense__x=1").status_code == 302
