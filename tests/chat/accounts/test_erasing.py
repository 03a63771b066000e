"""People delete what they asked, or all that is theirs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.accounts import erasing, tokens
from chat.models import Conversation, Message, Run, RunState
from retrieval.audit.models import AuditEvent
from retrieval.database import in_thread
from retrieval.limits.models import Limit
from retrieval.models import Document
from tests import conversations

pytestmark = pytest.mark.django_db
PAGE = "/accounts/data/"
ERASE = "/accounts/data/account/"


def test_all_conversations_go_at_once(signed_in: Client, ada: User, bob: User) -> None:
    version = conversations.document()
    for number in range(3):
        conversations.answered(ada, f"{number}?", version=version)
    conversations.answered(bob, version=version)
    assert "3 conversations" in signed_in.get(f"{PAGE}conversations/").content.decode()
    assert Conversation.objects.filter(user=ada).count() == 3
    page = signed_in.post(f"{PAGE}conversations/", follow=True).content.decode()
    assert "3 conversations are deleted." in page
    assert [one.user for one in Conversation.objects.all()] == [bob]
    event = AuditEvent.objects.get(action="own_data.conversations_deleted")
    assert event.details == {"count": 3}


@pytest.mark.django_db(transaction=True)
def test_what_is_being_answered_is_stopped(ada: User) -> None:
    conversations.answered(ada, state=RunState.RUNNING)
    erasing.stop_runs(ada)
    assert Run.objects.get().stop_requested_at is not None


def test_the_account_goes_with_everything_that_is_only_its_own(
    signed_in: Client, ada: User, bob: User
) -> None:
    conversations.answered(ada)
    Document.objects.update(uploaded_by=ada)
    elsewhere = Client()
    elsewhere.post(reverse("login"), {"login": "ada", "password": "ada"})
    tokens.make(ada, "Backup", ["ask"], None)
    page = signed_in.get(ERASE).content.decode()
    assert "Your conversation with its answers" in page
    assert "The document you uploaded" in page
    signed_in.post(ERASE, {"username": "ada"})
    assert [user.get_username() for user in User.objects.all()] == ["bob"]
    assert not Message.objects.exists()
    assert Document.objects.get().uploaded_by is None
    assert not UserSession.objects.exists()
    assert not any("_auth_user_id" in each.get_decoded() for each in Session.objects.all())
    assert elsewhere.get(PAGE).status_code == 302


def test_the_audit_log_keeps_what_was_done_under_a_pseudonym(signed_in: Client, ada: User) -> None:
    key = ada.pk
    signed_in.post(ERASE, {"username": "ada"})
    assert AuditEvent.objects.filter(action="own_data.account_deleted", actor_id=key).exists()
    assert AuditEvent.objects.filter(action="user.deleted", target_id=str(key)).exists()
    assert "'ada'" not in str(list(AuditEvent.objects.values()))
    names = set(AuditEvent.objects.filter(actor_id=key).values_list("actor_name", "address"))
    assert names == {(f"deleted user {key}", None)}


async def test_sockets_of_who_is_deleted_close(user: User, visit: Any) -> None:
    page = await visit(user)
    await page.connect()
    await in_thread(user.delete)
    assert (await page.receive_output(10))["code"] in (4401, 4403)


def test_deleting_somebody_in_admin_does_the_same(ada: User, client: Client) -> None:
    conversations.answered(ada)
    client.force_login(ada)
    Run.objects.update(state=RunState.RUNNING)
    root = Client()
    root.force_login(conversations.person("root", is_staff=True, is_superuser=True))
    key = ada.pk
    root.post(f"/admin/auth/user/{key}/delete/", {"post": "yes"})
    assert not Conversation.objects.exists()
    assert client.get(PAGE).status_code == 302
    assert AuditEvent.objects.get(action="user.deleted").target_name == f"deleted user {key}"
    assert LogEntry.objects.get().object_repr == f"deleted user {key}"


def test_nothing_of_a_name_stays_when_an_account_is_deleted(client: Client) -> None:
    """Not by what was the person's own, whether it was changed or deleted, one or many."""
    zelda = conversations.person("zelda.quux", email="zelda@quux.example")
    client.force_login(conversations.person("root", is_staff=True, is_superuser=True))
    addresses = [
        EmailAddress.objects.create(user=zelda, email=email, primary=email == zelda.email)
        for email in (zelda.email, "quux@quux.example")
    ]
    limit = Limit.objects.create(user=zelda, uploads_a_day=3)
    token, _ = tokens.make(zelda, "Zelda Quux's backup", ["ask"], None)
    token.revoke()
    first = addresses[0]
    changed = {"user": zelda.pk, "email": first.email, "verified": "on", "primary": "on"}
    client.post(f"/admin/account/emailaddress/{first.pk}/change/", changed)
    client.post(f"/admin/account/emailaddress/{addresses[1].pk}/delete/", {"post": "yes"})
    client.post(f"/admin/limits/limit/{limit.pk}/delete/", {"post": "yes"})
    client.post(f"/admin/auth/user/{zelda.pk}/delete/", {"post": "yes"})
    left = f"{[*AuditEvent.objects.values()]} {[*LogEntry.objects.values()]}"
    assert AuditEvent.objects.filter(action="admin.changed").exists()
    assert AuditEvent.objects.filter(action="limit.deleted").exists()
    assert not User.objects.filter(pk=zelda.pk).exists()
    assert "quux" not in left.lower()


def test_what_was_deleted_with_others_in_admin_says_no_name_either(client: Client) -> None:
    """Django tells nobody of entries that it makes many of at once."""
    zelda = conversations.person("zelda.quux", email="zelda@quux.example")
    root = conversations.person("root")
    entries = [
        LogEntry(
            user=root,
            content_type=ContentType.objects.get_for_model(EmailAddress),
            object_id="1",
            object_repr=name,
            action_flag=DELETION,
        )
        for name in (zelda.email, zelda.username)
    ]
    LogEntry.objects.bulk_create(entries)
    key = zelda.pk
    zelda.delete()
    assert {entry.object_repr for entry in LogEntry.objects.all()} == {f"deleted user {key}"}


def test_a_name_that_is_mistyped_deletes_nothing(signed_in: Client) -> None:
    page = signed_in.post(ERASE, {"username": "Ada"})
    assert page.status_code == 422
    assert "That is not your username." in page.content.decode()
    assert User.objects.filter(username="ada").exists()


def test_who_signed_in_long_ago_shows_who_they_are_first(signed_in: Client) -> None:
    session = signed_in.session
    session["account_authentication_methods"] = [
        {**method, "at": method["at"] - 100_000}
        for method in session["account_authentication_methods"]
    ]
    session.save()
    for response in (signed_in.get(ERASE), signed_in.post(ERASE, {"username": "ada"})):
        assert response.status_code == 302
        assert "reauthenticate" in response["Location"]
    assert User.objects.filter(username="ada").exists()


def test_who_comes_from_elsewhere_has_signed_in_lately(client: Client, ada: User) -> None:
    ada.set_unusable_password()
    ada.save()
    client.force_login(ada)
    User.objects.update(last_login=timezone.now() - timedelta(hours=1))
    assert "Sign out and in again" in client.get(ERASE).content.decode()
    assert client.post(ERASE, {"username": "ada"}).status_code == 422
    User.objects.update(last_login=timezone.now())
    client.post(ERASE, {"username": "ada"})
    assert not User.objects.exists()


def test_the_only_administrator_stays(signed_in: Client, ada: User) -> None:
    User.objects.update(is_superuser=True)
    assert "only administrator" in signed_in.get(ERASE).content.decode()
    assert signed_in.post(ERASE, {"username": "ada"}).status_code == 422
    assert User.objects.filter(pk=ada.pk).exists()


def test_nobody_gets_anything_without_signing_in(client: Client) -> None:
    for url in ("", "conversations/", "account/"):
        assert client.get(f"{PAGE}{url}").status_code == 302
    assert client.post(f"{PAGE}export/").status_code == 302
    assert client.get(f"{PAGE}export/").status_code == 405


def test_what_was_deleted_and_could_be_brought_back_goes_with_the_rest(ada: User) -> None:
    conversations.answered(ada)
    Conversation.objects.update(deleted_at=timezone.now())
    assert erasing.delete_conversations(ada) == 1
    assert not Message.objects.exists()
