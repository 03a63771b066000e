"""What a person may see, compiled once."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.db import connection
from django.db.models import QuerySet

from retrieval.models import Collection, Visibility
from retrieval.permitted import permitted

pytestmark = pytest.mark.django_db


def visible(user: User | AnonymousUser) -> QuerySet[Any, Any]:
    return Collection.objects.visible_to(user).order_by().values("name")


def names(user: User | AnonymousUser) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(*permitted(visible, user))
        return {row[0] for row in cursor.fetchall()}


def test_each_person_sees_what_the_queryset_says() -> None:
    for visibility in Visibility:
        Collection.objects.create(name=visibility, visibility=visibility)
    ada, bob, eve, root = (User.objects.create_user(name) for name in ("ada", "bob", "eve", "root"))
    Collection.objects.get(name="restricted").readers.add(ada)
    group = Group.objects.create(name="Auditors")
    group.permissions.add(Permission.objects.get(codename="see_all_collections"))
    bob.groups.add(group)
    root.is_superuser = True
    left = User(pk=root.pk, is_superuser=True, is_active=False)
    for person in (ada, bob, eve, root, left, AnonymousUser()):
        assert names(person) == {row["name"] for row in visible(person)}
    assert [len(names(each)) for each in (ada, bob, eve, root, left)] == [3, 3, 2, 3, 1]


def test_a_statement_is_compiled_once_for_all_people() -> None:
    built = []

    def rows(user: User | AnonymousUser) -> QuerySet[Any, Any]:
        built.append(user)
        return visible(user)

    first, second = (permitted(rows, User(pk=pk, is_active=True)) for pk in (7, 8))
    assert len(built) == 1
    assert first.sql == second.sql
    assert (
        [(one, other) for one, other in zip(first.params, second.params, strict=True)].count((7, 8))
        == list(first.params).count(7)
        > 0
    )
