"""The roles that come with the site."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import DEFAULT_DB_ALIAS

from chat.accounts.roles import (
    ADMINISTRATORS,
    COLLECTION_MANAGERS,
    REVIEWERS,
    ROLES,
    make,
    remember,
)

pytestmark = pytest.mark.django_db


def migrate(*new: str) -> None:
    """Do what migrating does, with permissions of these names made meanwhile."""
    config = apps.get_app_config("accounts")
    remember(config, DEFAULT_DB_ALIAS)
    kind = ContentType.objects.get(app_label="chat", model="conversation")
    for codename in new:
        Permission.objects.create(codename=codename, name=codename, content_type=kind)
    make(config, DEFAULT_DB_ALIAS)


def given(role: str) -> set[str]:
    rows = Permission.objects.filter(group__name=role)
    return {".".join(row) for row in rows.values_list("content_type__app_label", "codename")}


def test_roles_are_there_after_migrating() -> None:
    assert {*ROLES} <= {*Group.objects.values_list("name", flat=True)}


def test_collection_managers_look_after_documents() -> None:
    """They make no collection, publish none, and see none but theirs."""
    assert given(COLLECTION_MANAGERS) == {
        "retrieval.view_collection", "retrieval.change_collection", "retrieval.view_document",
        "retrieval.add_document", "retrieval.change_document", "retrieval.delete_document",
        "retrieval.view_chunk",
    }  # fmt: skip


def test_reviewers_read_and_change_nothing() -> None:
    assert given(REVIEWERS) == {"chat.view_conversation"}


def test_administrators_do_all_but_what_would_make_them_superusers() -> None:
    """Everything of the site's own apps; of how others sign in they take away what was lost."""
    own = given(ADMINISTRATORS)
    assert {
        "retrieval.manage_all_collections", "retrieval.publish_collection",
        "retrieval.change_embeddingspace", "chat.change_assistant", "chat.view_conversation",
        "auth.change_user", "auth.change_group", "limits.change_limit", "audit.view_auditevent",
    } <= own  # fmt: skip
    others = {name for name in own if name.split(".")[0] not in {
        "retrieval", "chat", "accounts", "limits",
    }}  # fmt: skip
    assert {name for name in others if "view_" not in name} == {
        "auth.add_user", "auth.change_user", "auth.delete_user", "auth.add_group",
        "auth.change_group", "auth.delete_group", "mfa.delete_authenticator",
        "usersessions.delete_usersession", "socialaccount.delete_socialaccount",
    }  # fmt: skip


def test_members_of_a_role_have_its_permissions() -> None:
    ada = User.objects.create_user("ada")
    ada.groups.add(Group.objects.get(name=REVIEWERS))
    assert ada.has_perm("chat.view_conversation")
    assert not ada.has_perm("chat.change_conversation")


def test_what_was_given_and_taken_by_hand_stays_so() -> None:
    role = Group.objects.get(name=REVIEWERS)
    more = Permission.objects.get(codename="see_all_collections")
    role.permissions.set([more])
    migrate()
    assert given(REVIEWERS) == {"retrieval.see_all_collections"}


def test_new_permissions_are_given_to_the_roles_they_are_for() -> None:
    """As a later release brings them."""
    Group.objects.get(name=ADMINISTRATORS).permissions.clear()
    migrate("fold_conversation")
    assert given(ADMINISTRATORS) == {"chat.fold_conversation"}
    assert given(REVIEWERS) == {"chat.view_conversation"}


def test_a_role_that_was_deleted_is_made_anew_with_all_it_has() -> None:
    Group.objects.filter(name=COLLECTION_MANAGERS).delete()
    migrate()
    assert "retrieval.add_document" in given(COLLECTION_MANAGERS)
    assert Group.objects.filter(name__in=ROLES).count() == len(ROLES)
