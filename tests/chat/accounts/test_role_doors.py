"""What somebody with one of the roles finds in the admin."""

from __future__ import annotations

import pytest
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


def test_administrators_open_all_but_how_people_sign_in() -> None:
    found = opened(ADMINISTRATORS)
    assert found >= MANAGED | {"retrieval.embeddingspace", "chat.assistant", "auth.user"}
    assert {label.split(".")[0] for label in found} <= {
        "retrieval", "chat", "accounts", "auth", "audit", "limits", "procrastinate",
    }  # fmt: skip
