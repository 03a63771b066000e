"""What somebody with one of the roles finds in the admin."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from chat.accounts.roles import ADMINISTRATORS, COLLECTION_MANAGERS, REVIEWERS

pytestmark = pytest.mark.django_db

MANAGED = {"retrieval.collection", "retrieval.document", "retrieval.chunk"}


def opened(role: str | None) -> set[str]:
    """Return the models whose lists somebody with this role can open, or whose list answers."""
    user = User.objects.create_user("ada", is_staff=True)
    if role:
        user.groups.add(Group.objects.get(name=role))
    client, found = Client(), set()
    client.force_login(user)
    for model in admin.site._registry:
        options = model._meta
        url = reverse(f"admin:{options.app_label}_{options.model_name}_changelist")
        status = client.get(url).status_code
        assert status in {200, 403}, url
        if status == 200:
            found.add(options.label_lower)
    return found


@pytest.mark.parametrize(
    ("role", "models"),
    [(None, set()), (COLLECTION_MANAGERS, MANAGED), (REVIEWERS, {"chat.conversation"})],
)
def test_roles_open_what_is_theirs(role: str | None, models: set[str]) -> None:
    assert opened(role) == models


def test_administrators_open_everything() -> None:
    assert opened(ADMINISTRATORS) == {model._meta.label_lower for model in admin.site._registry}


def test_what_superusers_have_is_out_of_administrators_reach(client: Client) -> None:
    """Their sessions and second factors; those of others can be taken away."""
    administrator = User.objects.create_user("ada", is_staff=True)
    administrator.groups.add(Group.objects.get(name=ADMINISTRATORS))
    client.force_login(administrator)
    for fields, status in (({"is_superuser": True}, 403), ({}, 302)):
        owner = User.objects.create_user(f"owner-{status}", **fields)
        factor = Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={})
        url = reverse("admin:mfa_authenticator_delete", args=[factor.pk])
        assert client.post(url, {"post": "yes"}).status_code == status
        assert Authenticator.objects.filter(pk=factor.pk).exists() == (status == 403)
