"""Versions of an assistant in the admin: listed, compared, and brought back."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Assistant, Audience
from retrieval.models import Collection
from tests import conversations
from tests.chat.assistants import ADD, LIST, allowed, page_of

pytestmark = pytest.mark.django_db


def versions_of(assistant: Assistant) -> str:
    return reverse("admin:chat_assistant_versions", args=[assistant.pk])


@pytest.fixture
def changed(archivist: Assistant) -> Assistant:
    """Return an assistant at its third version."""
    for instructions in ("Be brief.\nBe kind.", "Be long.\nBe kind."):
        archivist.instructions = instructions
        archivist.save()
        archivist.record_version()
    return archivist


def test_versions_are_listed_with_what_the_newest_changed(
    staff: Client, changed: Assistant
) -> None:
    page = staff.get(versions_of(changed)).content.decode()
    assert "From version 2 to version 3" in page
    assert "<del>Be brief.</del>" in page
    assert "<ins>Be long.</ins>" in page
    assert "<span>Be kind.</span>" in page
    assert "answers now" in page


def test_any_two_versions_are_compared(staff: Client, changed: Assistant) -> None:
    page = staff.get(versions_of(changed), {"from": "1", "to": "2"}).content.decode()
    assert "From version 1 to version 2" in page
    assert "<ins>Be kind.</ins>" in page
    assert staff.get(versions_of(changed), {"from": "x", "to": "9" * 30}).status_code == 200


def test_a_version_counts_the_answers_it_gave(staff: Client, changed: Assistant) -> None:
    conversations.answered(conversations.person("ada"), assistant_version=changed.version)
    assert "<td>1</td>" in staff.get(versions_of(changed)).content.decode()


def restore(client: Client, assistant: Assistant, number: int) -> int:
    url = reverse("admin:chat_assistant_restore", args=[assistant.pk, number])
    return client.post(url).status_code


def test_a_version_is_brought_back_as_a_new_one(staff: Client, changed: Assistant) -> None:
    Assistant.objects.update(visibility=Audience.RESTRICTED, greeting="Hello")
    assert restore(staff, changed, 1) == 302
    changed.refresh_from_db()
    assert (changed.instructions, changed.greeting) == ("Be brief.", "Hello")
    assert changed.visibility == Audience.RESTRICTED
    newest = changed.version
    assert newest is not None
    assert newest.number == 4
    assert str(newest.created_by) == "root"


def test_its_collections_come_back(staff: Client, archivist: Assistant) -> None:
    towers = Collection.objects.create(name="Towers")
    archivist.collections.add(towers)
    archivist.record_version()
    assert restore(staff, archivist, 1) == 302
    assert not archivist.collections.exists()
    assert restore(staff, archivist, 2) == 302
    assert archivist.collections.get() == towers


def test_a_version_whose_collection_is_gone_is_not_brought_back(
    staff: Client, archivist: Assistant
) -> None:
    """It would search everything else instead."""
    towers = Collection.objects.create(name="Towers")
    archivist.collections.add(towers)
    archivist.record_version()
    towers.delete()
    restore(staff, archivist, 2)
    page = staff.get(versions_of(archivist)).content.decode()
    assert "A collection that this version searched is gone." in page
    assert "a collection that is gone" in page
    assert archivist.versions.count() == 2


def test_who_may_only_look_brings_nothing_back(client: Client, changed: Assistant) -> None:
    client.force_login(allowed("view_assistant"))
    assert client.get(page_of(changed)).status_code == 200
    page = client.get(versions_of(changed))
    assert "Restore" not in page.content.decode()
    assert restore(client, changed, 1) == 403
    assert changed.versions.count() == 3


def test_being_staff_opens_no_page_of_assistants(client: Client, changed: Assistant) -> None:
    client.force_login(allowed())
    for url in (LIST, ADD, page_of(changed), versions_of(changed)):
        assert client.get(url).status_code == 403
    assert client.post(reverse("admin:chat_assistant_try_new")).status_code == 403
    assert restore(client, changed, 1) == 403


def test_unknown_assistants_and_versions_are_not_there(staff: Client, changed: Assistant) -> None:
    assert restore(staff, changed, 9) == 404
    nobody = Collection.objects.create(name="Not an assistant").pk
    assert staff.get(reverse("admin:chat_assistant_versions", args=[nobody])).status_code == 404
    assert staff.post(reverse("admin:chat_assistant_try", args=[nobody])).status_code == 404
