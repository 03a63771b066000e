"""Deleting people in admin."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from chat.models import Conversation
from tests import conversations

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    user = conversations.person("ada")
    conversations.answered(user, "Am I ill?")
    return user


def page_of(user: User) -> str:
    return f"/admin/auth/user/{user.pk}/delete/"


def test_conversations_go_with_their_owner_without_being_shown(
    admin_client: Client, ada: User
) -> None:
    page = admin_client.get(page_of(ada)).content.decode()
    assert "Conversations: 1" in page
    assert "Am I ill?" not in page
    admin_client.post(page_of(ada), {"post": "yes"})
    assert not User.objects.filter(username="ada").exists()
    assert not Conversation.objects.exists()


def test_several_people_go_at_once(admin_client: Client, ada: User) -> None:
    keys = [ada.pk, conversations.person("bob").pk]
    data = {"action": "delete_selected", "_selected_action": keys, "post": "yes"}
    admin_client.post("/admin/auth/user/", data)
    assert not User.objects.filter(pk__in=keys).exists()


def test_the_only_administrator_cannot_be_deleted(admin_client: Client, ada: User) -> None:
    root = User.objects.get(is_superuser=True)
    assert admin_client.post(page_of(root), {"post": "yes"}).status_code == 403
    data = {"action": "delete_selected", "_selected_action": [root.pk, ada.pk], "post": "yes"}
    admin_client.post("/admin/auth/user/", data)
    assert User.objects.count() == 2


def test_who_is_no_superuser_deletes_none(client: Client, ada: User) -> None:
    clerk = conversations.person("clerk", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(content_type__model="user"))
    client.force_login(clerk)
    roots = [conversations.person(name, is_superuser=True) for name in ("root", "toor")]
    assert client.post(page_of(roots[0]), {"post": "yes"}).status_code == 403
    assert client.post(page_of(ada), {"post": "yes"}).status_code == 302
    assert {user.get_username() for user in User.objects.all()} == {"clerk", "root", "toor"}
