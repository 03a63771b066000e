"""The list of conversations, and what people do with one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from chat.models import Conversation, Run, RunState, Titling
from retrieval.audit.models import AuditEvent
from tests import conversations
from tests.chat.pages import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fakes_configured")]


def address(run: Run, name: str) -> str:
    """Return an address of a run's conversation."""
    return reverse(f"chat:{name}", args=[run.conversation_id])


def test_conversations_are_grouped_by_time(page: Client, ada: User) -> None:
    for days in (0, 1, 3):
        made = Conversation.objects.create(user=ada, title=f"{days} days ago")
        past = timezone.now() - timedelta(days=days)
        Conversation.objects.filter(pk=made.pk).update(updated_at=past)
    html = text_of(page, reverse("chat:sidebar"))
    order = [html.index(name) for name in ("Today", "0 days", "Yesterday", "1 days", "Last 7 days")]
    assert order == sorted(order)


def test_older_conversations_come_a_page_at_a_time(page: Client, ada: User) -> None:
    Conversation.objects.bulk_create(
        Conversation(user=ada, title=f"Number {number}") for number in range(70)
    )
    assert "?page=2" in text_of(page, reverse("chat:sidebar"))
    html = text_of(page, reverse("chat:sidebar") + "?page=2&current=nonsense")
    assert html.count("<li") == 10
    assert "?page=" not in html


@pytest.mark.parametrize(
    ("rows", "shown"),
    [("", 60), ("0", 60), ("60", 60), ("61", 120), ("120", 120), ("9999999", 130), ("-1", 60)],
)
def test_a_list_that_is_shown_anew_is_as_long_as_it_was(
    page: Client, ada: User, rows: str, shown: int
) -> None:
    Conversation.objects.bulk_create(
        Conversation(user=ada, title=f"Number {number}") for number in range(130)
    )
    html = text_of(page, reverse("chat:sidebar") + f"?rows={rows}")
    assert html.count("<li") == shown
    assert (f"?page={shown // 60 + 1}" in html) == (shown < 130)


def test_a_rename_changes_the_title_and_not_the_order(page: Client, run: Run) -> None:
    before = Conversation.objects.get()
    url = reverse("chat:rename", args=[before.pk])
    assert before.title in text_of(page, url)
    html = page.post(url, {"title": "  The  lamp "}).content.decode()
    after = Conversation.objects.get()
    assert after.title == "The lamp"
    assert after.updated_at == before.updated_at
    assert "The lamp" in html


def test_an_empty_title_changes_nothing(page: Client, run: Run) -> None:
    page.post(address(run, "rename"), {"title": "  "})
    assert Conversation.objects.get().title == "How far can the lamp be seen?"


def test_renaming_the_open_conversation_renames_the_page(page: Client, run: Run) -> None:
    opened = f"http://testserver{address(run, 'conversation')}"
    headers = {"HX-Request": "true", "HX-Current-URL": opened}
    url = address(run, "rename")
    html = page.post(url, {"title": "The lamp"}, headers=headers).content.decode()
    assert 'id="conversation-title" hx-swap-oob="true" dir="auto">The lamp' in html


def test_a_title_that_somebody_gave_is_known_as_theirs(page: Client, run: Run) -> None:
    page.post(address(run, "rename"), {"title": "The lamp"})
    assert Conversation.objects.get().titled_by == Titling.PERSON


def test_what_is_deleted_is_gone_at_once_wherever_it_was(page: Client, run: Run) -> None:
    response = page.post(address(run, "delete"))
    assert response.status_code == 200
    assert not Conversation.objects.exists()
    for name in ("conversation", "rename", "title"):
        assert page.get(address(run, name)).status_code == 404
    for name in ("message", "sources"):
        assert page.get(reverse(f"chat:{name}", args=[run.answer_id])).status_code == 404
    assert run.conversation.title not in text_of(page, reverse("chat:sidebar"))


@pytest.mark.django_db(transaction=True)
def test_deleting_stops_what_is_being_answered(page: Client, ada: User) -> None:
    run = conversations.answered(ada, state=RunState.RUNNING)
    page.post(address(run, "delete"))
    assert Run.objects.get().stop_requested_at


def test_deleting_offers_to_undo_it(page: Client, run: Run) -> None:
    html = page.post(address(run, "delete")).content.decode()
    assert address(run, "restore") in html
    html = page.post(address(run, "restore")).content.decode()
    assert run.conversation.title in html
    assert "Brought back" in html
    assert Conversation.objects.get() == run.conversation


def test_both_are_recorded_without_the_title(page: Client, run: Run) -> None:
    page.post(address(run, "delete"))
    page.post(address(run, "restore"))
    events = AuditEvent.objects.filter(target_id=str(run.conversation_id)).order_by("at")
    assert [event.action for event in events] == ["conversation.deleted", "conversation.restored"]
    assert {event.target_name for event in events} == {""}


def test_after_a_while_it_cannot_be_brought_back(page: Client, run: Run) -> None:
    past = timezone.now() - timedelta(minutes=2)
    Conversation.objects.update(deleted_at=past)
    html = page.post(address(run, "restore")).content.decode()
    assert "cannot be brought back" in html
    assert not Conversation.objects.exists()


def test_nobody_brings_back_what_another_deleted(page: Client) -> None:
    run = conversations.answered(conversations.person("bob"))
    Conversation.objects.update(deleted_at=timezone.now())
    assert page.post(address(run, "restore")).status_code == 404


def test_who_had_it_open_goes_back_to_it(page: Client, run: Run) -> None:
    Conversation.objects.update(deleted_at=timezone.now())
    html = text_of(page, f"/?deleted={run.conversation_id}")
    assert address(run, "restore") in html
    response = page.post(address(run, "restore"), {"open": "yes"})
    assert response.headers["HX-Redirect"] == address(run, "conversation")


@pytest.mark.parametrize("named", ["nonsense", "", "00000000-0000-0000-0000-000000000000"])
def test_a_page_that_names_nothing_deleted_offers_nothing(page: Client, named: str) -> None:
    assert "data-undo" not in text_of(page, f"/?deleted={named}")


def test_what_is_pinned_stands_on_top_whatever_page_it_would_be_on(page: Client, run: Run) -> None:
    Conversation.objects.bulk_create(
        Conversation(user=run.user, title=f"Number {number}") for number in range(70)
    )
    html = page.post(address(run, "pin"), {"pinned": "yes"}).content.decode()
    assert html.index("Pinned") < html.index(run.conversation.title) < html.index("Today")
    assert html.count(f'data-id="{run.conversation_id}"') == 1
    assert run.conversation.title not in text_of(page, reverse("chat:sidebar") + "?page=2")
    html = page.post(address(run, "pin"), {"pinned": "no"}).content.decode()
    assert "Pinned" not in html


def test_pinning_is_no_activity(page: Client, run: Run) -> None:
    before = Conversation.objects.get().updated_at
    page.post(address(run, "pin"), {"pinned": "yes"})
    assert Conversation.objects.get().updated_at == before


@pytest.fixture
def _titles(settings: Settings) -> None:
    settings.TITLES = True


@pytest.mark.usefixtures("_titles")
def test_a_title_to_come_is_asked_for_until_it_is_there(page: Client, run: Run) -> None:
    Run.objects.update(state=RunState.RUNNING)
    assert f'hx-get="{address(run, "title")}"' in text_of(page, reverse("chat:sidebar"))
    assert page.get(address(run, "title")).status_code == 204
    Conversation.objects.update(title="The lamp", titled_by=Titling.GENERATOR)
    html = text_of(page, address(run, "title"))
    assert "The lamp" in html
    assert "every 2s" not in html


@pytest.mark.usefixtures("_titles")
def test_a_title_that_does_not_come_is_not_asked_for_any_more(page: Client, run: Run) -> None:
    Run.objects.update(finished_at=timezone.now() - timedelta(minutes=1))
    assert "every 2s" not in text_of(page, address(run, "title"))
    Conversation.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert "every 2s" not in text_of(page, reverse("chat:sidebar"))


def test_deleting_the_open_conversation_opens_a_new_one(page: Client, run: Run) -> None:
    opened = f"http://testserver{address(run, 'conversation')}"
    headers = {"HX-Request": "true", "HX-Current-URL": opened}
    response = page.post(address(run, "delete"), headers=headers)
    assert response.headers["HX-Redirect"] == f"/?deleted={run.conversation_id}"


def test_looking_does_not_delete(page: Client, run: Run) -> None:
    assert page.get(address(run, "delete")).status_code == 405
