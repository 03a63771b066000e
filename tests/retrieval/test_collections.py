"""Who may see and who manages a collection; in SQL, and without asking for anything first."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from pytest_django import DjangoAssertNumQueries

from chat.accounts.models import Guest
from retrieval.models import Collection, Visibility

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _collections() -> None:
    for visibility in Visibility:
        Collection.objects.create(name=visibility.value, visibility=visibility)


def restricted() -> Collection:
    return Collection.objects.get(name="restricted")


def person(**fields: Any) -> User:
    return User.objects.create_user("ada", **fields)


def member(group: Group, **fields: Any) -> User:
    user = person(**fields)
    user.groups.add(group)
    return user


def group(*permissions: str) -> Group:
    made = Group.objects.create(name="Engineers")
    made.permissions.set(Permission.objects.filter(codename__in=permissions))
    return made


def seen(user: Any) -> set[str]:
    return {collection.name for collection in Collection.objects.visible_to(user)}


def managed(user: Any) -> set[str]:
    return {collection.name for collection in Collection.objects.managed_by(user)}


ALL = {"restricted", "signed_in", "public"}
OPEN = {"signed_in", "public"}


def test_the_public_sees_what_is_public() -> None:
    assert seen(AnonymousUser()) == {"public"}


def test_guests_are_the_public_whatever_names_them() -> None:
    guest = Guest.objects.create_guest()
    User.objects.filter(pk=guest.pk).update(is_active=True, is_superuser=True)
    restricted().managers.add(guest.pk)
    guest.refresh_from_db(from_queryset=Guest._base_manager.all())
    assert (seen(guest), managed(guest)) == ({"public"}, set())


def test_who_is_signed_in_sees_what_is_open_and_manages_nothing() -> None:
    ada = person()
    assert (seen(ada), managed(ada)) == (OPEN, set())


def test_who_may_open_the_admin_sees_no_more_for_that() -> None:
    ada = person(is_staff=True)
    assert (seen(ada), managed(ada)) == (OPEN, set())


def test_readers_see_it_and_manage_nothing() -> None:
    ada = person()
    restricted().readers.add(ada)
    assert (seen(ada), managed(ada)) == (ALL, set())


def test_members_of_a_group_of_readers_see_it() -> None:
    engineers = group()
    ada = member(engineers)
    assert seen(ada) == OPEN
    restricted().reader_groups.add(engineers)
    assert (seen(ada), managed(ada)) == (ALL, set())


def test_managers_see_and_manage_it() -> None:
    ada = person()
    restricted().managers.add(ada)
    assert (seen(ada), managed(ada)) == (ALL, {"restricted"})


def test_members_of_a_group_of_managers_see_and_manage_it() -> None:
    engineers = group()
    restricted().manager_groups.add(engineers)
    ada = member(engineers)
    assert (seen(ada), managed(ada)) == (ALL, {"restricted"})


def test_another_reader_group_and_another_reader_change_nothing() -> None:
    restricted().reader_groups.add(group())
    restricted().readers.add(User.objects.create_user("grace"))
    ada = person()
    ada.groups.add(Group.objects.create(name="Others"))
    assert seen(ada) == OPEN


@pytest.mark.parametrize(
    ("permission", "manages"),
    [("see_all_collections", set()), ("manage_all_collections", ALL), ("publish_collection", None)],
)
@pytest.mark.parametrize("by_group", [True, False])
def test_permissions_open_all(permission: str, manages: set[str] | None, by_group: bool) -> None:
    """Given to a person or to a group of theirs; other permissions open nothing."""
    if by_group:
        ada = member(group(permission))
    else:
        ada = person()
        ada.user_permissions.set(Permission.objects.filter(codename=permission))
    assert seen(ada) == (OPEN if manages is None else ALL)
    assert managed(ada) == (manages or set())


def test_superusers_see_and_manage_all() -> None:
    ada = person(is_superuser=True)
    assert (seen(ada), managed(ada)) == (ALL, ALL)


@pytest.mark.parametrize("superuser", [True, False])
def test_who_is_not_active_is_the_public(superuser: bool) -> None:
    ada = person(is_active=False, is_superuser=superuser)
    restricted().readers.add(ada)
    restricted().managers.add(ada)
    assert (seen(ada), managed(ada)) == ({"public"}, set())


def test_nobody_is_named_twice() -> None:
    """Who is a reader, and a manager, and in groups of both, sees it once."""
    engineers = group("see_all_collections")
    ada = member(engineers)
    one = restricted()
    for people, groups in ((one.readers, one.reader_groups), (one.managers, one.manager_groups)):
        people.add(ada)
        groups.add(engineers)
    assert Collection.objects.visible_to(ada).count() == 3
    assert Collection.objects.managed_by(ada).count() == 1


def test_a_right_taken_away_is_gone_at_once_for_the_same_user_object() -> None:
    """Nothing about it is kept on the user."""
    engineers = group("see_all_collections")
    ada = member(engineers)
    assert seen(ada) == ALL
    ada.groups.clear()
    assert seen(ada) == OPEN


def test_making_the_condition_asks_for_nothing(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    ada = User.objects.get(pk=person().pk)
    with django_assert_num_queries(0):
        Collection.objects.visible_to(ada).values("id").query.sql_with_params()
        Collection.objects.managed_by(ada).values("id").query.sql_with_params()
