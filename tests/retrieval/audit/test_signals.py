"""What is recorded wherever it is done."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from retrieval.audit.models import AuditEvent
from tests.conversations import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return person("ada")


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(person("root", is_staff=True, is_superuser=True))
    return client


def only(action: str) -> AuditEvent:
    return AuditEvent.objects.get(action=action)


def test_signing_in_and_out_are_recorded(client: Client, ada: User) -> None:
    client.force_login(ada)
    client.logout()
    for action in ("login.succeeded", "login.ended"):
        assert only(action).actor_id == ada.pk


def test_a_failed_sign_in_names_whom_it_was_tried_for(client: Client, ada: User) -> None:
    assert not client.login(username="ada", password="wrong")
    event = only("login.failed")
    assert (event.target_id, event.details) == (str(ada.pk), {"known": True})


def test_who_signs_in_by_an_address_is_known_too(client: Client, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(email="ada@example.org")
    client.post(reverse("login"), {"login": "Ada@example.org", "password": "wrong"})
    failed = AuditEvent.objects.filter(action="login.failed")
    assert {event.target_id for event in failed} == {str(ada.pk)}


def test_a_name_that_nobody_has_is_not_kept(client: Client) -> None:
    client.login(username="my-password-by-mistake", password="x")
    event = only("login.failed")
    assert (event.target_name, event.details) == ("", {"known": False})


def test_a_new_password_is_recorded_but_not_what_it_is(ada: User) -> None:
    ada.set_password("correct horse")
    ada.save()
    assert only("password.changed").target_id == str(ada.pk)
    assert "horse" not in str(AuditEvent.objects.values())


def test_a_password_that_is_only_hashed_anew_is_none(ada: User) -> None:
    ada._password = None
    ada.password = "md5$a$b"
    ada.save(update_fields=["password"])
    assert not AuditEvent.objects.filter(action="password.changed").exists()


def test_changed_rights_are_recorded(ada: User) -> None:
    ada.is_superuser = True
    ada.save()
    assert only("rights.changed").details == {"is_superuser": True}


def test_groups_and_permissions_are_recorded(ada: User) -> None:
    group = Group.objects.create(name="Readers of towers")
    permission = Permission.objects.get(codename="view_document")
    ada.groups.add(group)
    group.permissions.add(permission)
    ada.groups.clear()
    assert only("user.groups.added").details == {"of": "auth.group", "keys": [str(group.pk)]}
    permissions = {"of": "auth.permission", "keys": [str(permission.pk)]}
    assert only("group.permissions.added").details == permissions
    assert only("user.groups.cleared").target_id == str(ada.pk)


def test_a_group_that_gets_a_person_is_recorded(ada: User) -> None:
    group = Group.objects.create(name="Readers of towers")
    group.user_set.add(ada)
    event = only("group.user_set.added")
    assert event.target_id == str(group.pk)
    assert event.details == {"of": "auth.user", "keys": [str(ada.pk)]}


def test_a_change_in_admin_names_the_fields(root: Client) -> None:
    group = Group.objects.create(name="Readers")
    root.post(f"/admin/auth/group/{group.pk}/change/", {"name": "Writers"})
    event = only("admin.changed")
    assert (event.actor_name, event.target_type, event.via) == ("root", "auth.group", "session")
    assert event.details == {"changes": [{"changed": {"fields": ["Name"]}}]}


def test_deleting_several_in_admin_is_recorded_for_each(root: Client) -> None:
    keys = [Group.objects.create(name=name).pk for name in ("Readers", "Writers")]
    data = {"action": "delete_selected", "_selected_action": keys, "post": "yes"}
    root.post("/admin/auth/group/", data)
    events = AuditEvent.objects.filter(action="group.deleted")
    assert {event.target_name for event in events} == {"Readers", "Writers"}
    assert {event.actor_name for event in events} == {"root"}


def test_deleting_an_account_leaves_its_events(ada: User, root: Client) -> None:
    root.post(f"/admin/auth/user/{ada.pk}/delete/", {"post": "yes"})
    assert only("user.deleted").actor_name == "root"
