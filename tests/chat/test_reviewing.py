"""Whose conversations a reviewer may read, and what is recorded of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat import quoting
from chat.accounts.models import Guest
from chat.models import Conversation, Feedback, Run
from retrieval.audit.models import AuditEvent
from retrieval.backends.base import QUOTING
from retrieval.models import Collection, DocumentVersion, Visibility
from tests import conversations

pytestmark = pytest.mark.django_db
LIST = "/admin/chat/conversation/"


@pytest.fixture
def rita() -> User:
    """Make somebody who may read conversations, and nothing else."""
    user = conversations.person("rita", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    return user


@pytest.fixture
def reviewer(client: Client, rita: User) -> Client:
    client.force_login(rita)
    return client


@pytest.fixture
def run() -> Run:
    """Make an answer from a collection that everyone may see."""
    return conversations.answered(conversations.person("ada"))


def close(readers: tuple[User, ...] = ()) -> None:
    """Let nobody but these see the collection any more."""
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    Collection.objects.get().readers.set(readers)


def page_of(run: Run) -> str:
    return reverse("admin:chat_conversation_change", args=[run.conversation_id])


def reads(reviewer: Client, run: Run) -> bool:
    """Whether a conversation is listed and can be opened: both or neither."""
    listed = run.conversation.title in reviewer.get(LIST).content.decode()
    opened = reviewer.get(page_of(run)).status_code == 200
    assert listed == opened
    return listed


def test_by_default_all_conversations_are_read_those_of_guests_too(
    reviewer: Client, run: Run
) -> None:
    version = DocumentVersion.objects.get()
    guest = conversations.answered(Guest.objects.create_guest(), "Who lit it?", version=version)
    close()
    assert reads(reviewer, run)
    assert reads(reviewer, guest)


def test_none_lets_nobody_read_any(
    reviewer: Client, run: Run, settings: Any, admin_client: Client
) -> None:
    settings.REVIEW_POLICY = "none"
    for browser in (reviewer, admin_client):
        assert browser.get(LIST).status_code == 403
        assert run.conversation.title not in browser.get(page_of(run), follow=True).content.decode()
        assert LIST not in browser.get("/admin/", follow=True).content.decode()


def test_rated_lets_one_read_what_somebody_said_something_of(
    reviewer: Client, run: Run, settings: Any
) -> None:
    settings.REVIEW_POLICY = "rated"
    assert not reads(reviewer, run)
    Feedback.objects.create(message=run.answer, user=run.user, helpful=False)
    assert reads(reviewer, run)


def test_nobody_reads_what_its_person_deleted(reviewer: Client, run: Run) -> None:
    Conversation.objects.update(deleted_at=timezone.now())
    assert not reads(reviewer, run)


def test_who_has_not_the_permission_reads_none(client: Client, run: Run) -> None:
    client.force_login(conversations.person("sam", is_staff=True))
    assert client.get(LIST).status_code == 403
    assert client.get(page_of(run)).status_code == 403


@pytest.fixture
def _own_collections(settings: Any) -> None:
    settings.REVIEW_POLICY = "own_collections"


@pytest.mark.usefixtures("_own_collections")
def test_own_collections_lets_one_read_what_rests_on_ones_own(
    reviewer: Client, rita: User, run: Run
) -> None:
    assert reads(reviewer, run)
    close()
    assert not reads(reviewer, run)
    close(readers=(rita,))
    assert reads(reviewer, run)


@pytest.mark.usefixtures("_own_collections")
def test_own_collections_needs_all_that_was_given_to_be_ones_own(
    reviewer: Client, run: Run
) -> None:
    hidden = Collection.objects.create(name="Board", visibility=Visibility.RESTRICTED)
    version = conversations.document(title="Minutes")
    version.document.collection = hidden
    version.document.save()
    conversations.answered(run.user, "And?", version=version, conversation=run.conversation)
    assert not reads(reviewer, run)


@pytest.mark.usefixtures("_own_collections")
def test_own_collections_leaves_out_what_rests_on_nothing_or_on_what_is_gone(
    reviewer: Client, run: Run
) -> None:
    empty = Conversation.objects.create(user=run.user, title="Hello there")
    assert empty.title not in reviewer.get(LIST).content.decode()
    DocumentVersion.objects.get().delete()
    assert not reads(reviewer, run)


@pytest.mark.usefixtures("_own_collections")
def test_own_collections_is_no_limit_to_who_sees_all_collections(
    run: Run, admin_client: Client
) -> None:
    close()
    assert reads(admin_client, run)


@pytest.mark.usefixtures("_own_collections")
def test_a_search_finds_nothing_in_what_one_may_not_read(reviewer: Client, run: Run) -> None:
    assert run.conversation.title in reviewer.get(f"{LIST}?q=automated").content.decode()
    close()
    assert run.conversation.title not in reviewer.get(f"{LIST}?q=automated").content.decode()


def test_evidence_from_a_collection_one_may_not_see_is_blank(reviewer: Client, run: Run) -> None:
    before = reviewer.get(page_of(run)).content.decode()
    assert "Lighthouses of Scotland" in before
    assert "the last keepers left" in before
    close()
    after = reviewer.get(page_of(run)).content.decode()
    assert "22 miles" in after
    for part in ("Lighthouses of Scotland", "the last keepers left", "The foghorn fell"):
        assert part not in after


def test_an_answer_that_only_quotes_what_one_may_not_see_is_not_shown(reviewer: Client) -> None:
    run = conversations.answered(conversations.person("ada"), model=QUOTING)
    assert "22 miles" in reviewer.get(page_of(run)).content.decode()
    close()
    after = reviewer.get(page_of(run)).content.decode()
    assert "22 miles" not in after
    assert quoting.hidden_answer() in after


def test_opening_a_conversation_is_recorded_without_its_title(
    reviewer: Client, rita: User, run: Run
) -> None:
    reviewer.get(page_of(run))
    event = AuditEvent.objects.get(action="conversation.opened")
    assert (event.actor_id, event.target_id) == (rita.pk, str(run.conversation_id))
    assert (event.target_name, event.details) == ("", {"owner": run.user_id})


def test_what_may_not_be_opened_is_not_recorded_as_opened(client: Client, run: Run) -> None:
    client.force_login(conversations.person("sam", is_staff=True))
    client.get(page_of(run))
    assert not AuditEvent.objects.filter(action="conversation.opened").exists()


def test_listing_and_searching_are_recorded_without_the_words(reviewer: Client, run: Run) -> None:
    reviewer.get(LIST)
    reviewer.get(f"{LIST}?q=automated&runs__state__exact=completed")
    listed = AuditEvent.objects.get(action="conversations.listed")
    searched = AuditEvent.objects.get(action="conversations.searched")
    assert listed.details == {"found": 1, "filters": []}
    assert searched.details == {"found": 1, "filters": ["runs__state__exact"]}
    assert "automated" not in str(AuditEvent.objects.values())


def test_nothing_of_a_conversation_is_told_by_its_history(reviewer: Client, run: Run) -> None:
    assert reviewer.get(f"{LIST}{run.conversation_id}/history/").status_code == 404
