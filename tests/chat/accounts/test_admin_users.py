"""The admin's pages of accounts and groups."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from chat.accounts.models import Guest
from chat.accounts.roles import ADMINISTRATORS, REVIEWERS

pytestmark = pytest.mark.django_db

LIST = "/admin/auth/user/"


@pytest.fixture
def administrator(client: Client) -> User:
    """Sign in somebody who has the role, and is no superuser."""
    user = User.objects.create_user("ada", is_staff=True)
    user.groups.add(Group.objects.get(name=ADMINISTRATORS))
    client.force_login(user)
    return user


def url_of(user: User, page: str = "change") -> str:
    name = "auth_user_password_change" if page == "password" else f"auth_user_{page}"
    return reverse(f"admin:{name}", args=[user.pk])


def fields(user: User, **changed: Any) -> dict[str, Any]:
    """Return what the form of an account sends."""
    joined = user.date_joined
    known = {
        "username": user.username,
        "is_active": "on",
        "date_joined_0": f"{joined:%Y-%m-%d}",
        "date_joined_1": f"{joined:%H:%M:%S}",
    }
    return known | changed


def test_guests_are_listed_only_when_asked_for(admin_client: Client) -> None:
    guest = Guest.objects.create_guest()
    User.objects.create_user("guest-house")
    html = admin_client.get(LIST).content.decode()
    assert guest.username not in html
    assert "guest-house" in html
    html = admin_client.get(LIST, {"guests": "only"}).content.decode()
    assert guest.username in html
    assert "guest-house" not in html


def test_administrators_manage_accounts(administrator: User, client: Client) -> None:
    grace = User.objects.create_user("grace")
    role = Group.objects.get(name=REVIEWERS)
    saved = client.post(url_of(grace), fields(grace, is_staff="on", groups=[role.pk]))
    assert saved.status_code == 302
    grace.refresh_from_db()
    assert grace.is_staff
    assert [*grace.groups.all()] == [role]


def test_administrators_make_nobody_a_superuser(administrator: User, client: Client) -> None:
    for user in (administrator, User.objects.create_user("grace")):
        assert 'name="is_superuser"' not in client.get(url_of(user)).content.decode()
        client.post(url_of(user), fields(user, is_staff="on", is_superuser="on"))
        user.refresh_from_db()
        assert not user.is_superuser


@pytest.mark.parametrize("page", ["change", "delete", "password"])
def test_superusers_accounts_are_out_of_administrators_reach(
    page: str, administrator: User, client: Client
) -> None:
    root = User.objects.create_superuser("root", password="a")
    data = {"password1": "New-passw0rd", "password2": "New-passw0rd", "usable_password": "true"}
    response = client.post(url_of(root, page), fields(root, post="yes", email="x@y.test", **data))
    assert response.status_code == 403
    root.refresh_from_db()
    assert root.check_password("a")
    assert root.email == ""


def test_superusers_are_not_deleted_with_others(administrator: User, client: Client) -> None:
    root, grace = User.objects.create_superuser("root"), User.objects.create_user("grace")
    data = {"action": "delete_selected", "_selected_action": [root.pk, grace.pk], "post": "yes"}
    client.post(LIST, data)
    assert User.objects.filter(pk__in=[root.pk, grace.pk]).count() == 2


def test_administrators_give_what_their_role_has_and_no_more(
    administrator: User, client: Client
) -> None:
    """Not how people sign in, by which they could become anybody."""
    beyond = Permission.objects.filter(content_type__app_label="mfa")[0]
    within = Permission.objects.get(codename="view_limit")
    identity = Group.objects.create(name="Identity")
    identity.permissions.add(beyond)
    sent = fields(administrator, is_staff="on")
    for more in ({"user_permissions": [beyond.pk]}, {"groups": [identity.pk]}):
        html = client.post(url_of(administrator), sent | more).content.decode()
        assert "Select a valid choice" in html
    reviewers = Group.objects.get(name=REVIEWERS)
    url = reverse("admin:auth_group_change", args=[reviewers.pk])
    data = {"name": REVIEWERS, "permissions": [beyond.pk]}
    assert "Select a valid choice" in client.post(url, data).content.decode()
    assert client.post(url, data | {"permissions": [within.pk]}).status_code == 302
    assert [*reviewers.permissions.all()] == [within]


def test_what_a_superuser_gave_beside_that_is_kept(administrator: User, client: Client) -> None:
    grace = User.objects.create_user("grace")
    beyond = Permission.objects.filter(content_type__app_label="mfa")[0]
    grace.user_permissions.add(beyond)
    saved = client.post(url_of(grace), fields(grace, user_permissions=[beyond.pk]))
    assert saved.status_code == 302
    assert [*grace.user_permissions.all()] == [beyond]


def test_superusers_say_who_is_one(admin_client: Client) -> None:
    grace = User.objects.create_user("grace")
    assert admin_client.post(url_of(grace), fields(grace, is_superuser="on")).status_code == 302
    grace.refresh_from_db()
    assert grace.is_superuser
