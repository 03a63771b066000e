"""What migrations do with what is there."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User

from retrieval.models import Collection

pytestmark = pytest.mark.django_db


def test_people_of_the_admin_are_named_by_the_collections_they_saw() -> None:
    """Staff as readers of what was theirs; those who looked after documents as managers of all."""
    for name, visibility in (("Ours", "staff"), ("Open", "signed_in")):
        Collection.objects.create(name=name, visibility=visibility)
    editor = Group.objects.create(name="Editors")
    editor.permissions.set(Permission.objects.filter(codename="change_document"))
    for name, fields in {
        "ada": {"is_staff": True}, "root": {"is_staff": True, "is_superuser": True},
        "left": {"is_staff": True, "is_active": False}, "eve": {}, "editor": {"is_staff": True},
    }.items():  # fmt: skip
        User.objects.create_user(name, **fields)
    for name in ("editor", "eve"):
        User.objects.get(username=name).groups.add(editor)
    import_module("retrieval.migrations.0005_who_may_see_collections").name_people(apps, None)
    ours, opened = Collection.objects.get(name="Ours"), Collection.objects.get(name="Open")
    assert (ours.visibility, opened.visibility) == ("restricted", "signed_in")
    assert {user.username for user in ours.readers.all()} == {"ada", "editor"}
    assert not opened.readers.exists()
    for collection in (ours, opened):
        assert [user.username for user in collection.managers.all()] == ["editor"]
