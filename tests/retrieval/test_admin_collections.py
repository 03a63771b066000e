"""A collection's own page: who may see it, who manages it, and who may say so."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from retrieval.models import Collection, Visibility

pytestmark = pytest.mark.django_db

PEOPLE = "/admin/retrieval/collection/people/"


@pytest.fixture
def collection(db: None) -> Collection:
    return Collection.objects.create(name="Ours", visibility=Visibility.RESTRICTED)


def sign_in(collection: Collection, *permissions: str) -> Client:
    """Sign in a manager of the collection, who may change collections."""
    user = User.objects.create_user("ada", is_staff=True)
    wanted = ["view_collection", "change_collection", *permissions]
    user.user_permissions.set(Permission.objects.filter(codename__in=wanted))
    collection.managers.add(user)
    client = Client()
    client.force_login(user)
    return client


def save(client: Client, collection: Collection, **data: Any) -> str:
    url = reverse("admin:retrieval_collection_change", args=[collection.pk])
    known = {"name": collection.name, "visibility": collection.visibility}
    html = client.post(url, known | data, follow=True).content.decode()
    collection.refresh_from_db()
    return html


def test_managers_choose_readers(collection: Collection) -> None:
    grace, group = User.objects.create_user("grace"), Group.objects.create(name="Engineers")
    save(
        sign_in(collection),
        collection,
        description="Ours.",
        readers=[grace.pk],
        reader_groups=[group.pk],
    )
    assert collection.description == "Ours."
    assert [*collection.readers.all()] == [grace]
    assert [*collection.reader_groups.all()] == [group]


def test_managers_do_not_choose_managers(collection: Collection) -> None:
    """They see who manages it; what is sent all the same is passed over."""
    client = sign_in(collection)
    url = reverse("admin:retrieval_collection_change", args=[collection.pk])
    assert 'name="managers"' not in client.get(url).content.decode()
    grace = User.objects.create_user("grace")
    save(client, collection, managers=[grace.pk])
    assert [user.username for user in collection.managers.all()] == ["ada"]


def test_who_manages_everything_chooses_managers(collection: Collection) -> None:
    grace = User.objects.create_user("grace")
    save(sign_in(collection, "manage_all_collections"), collection, managers=[grace.pk])
    assert [*collection.managers.all()] == [grace]


def test_managers_open_it_to_all_who_sign_in_and_not_to_the_public(
    collection: Collection,
) -> None:
    client = sign_in(collection)
    save(client, collection, visibility="signed_in")
    assert collection.visibility == Visibility.SIGNED_IN
    url = reverse("admin:retrieval_collection_change", args=[collection.pk])
    assert 'value="public"' not in client.get(url).content.decode()
    assert "Select a valid choice" in save(client, collection, visibility="public")
    assert collection.visibility == Visibility.SIGNED_IN


def test_what_is_public_stays_so_when_its_manager_saves_it(collection: Collection) -> None:
    Collection.objects.update(visibility=Visibility.PUBLIC)
    collection.refresh_from_db()
    save(sign_in(collection), collection, description="For all.")
    assert (collection.description, collection.visibility) == ("For all.", Visibility.PUBLIC)


def test_who_may_publish_does(collection: Collection) -> None:
    save(sign_in(collection, "publish_collection"), collection, visibility="public")
    assert collection.visibility == Visibility.PUBLIC


def test_collections_are_added_by_who_may_add_them(collection: Collection) -> None:
    client = sign_in(collection)
    assert client.get("/admin/retrieval/collection/add/").status_code == 403


def looked_up(client: Client, field: str, term: str = "", **asked: str) -> Any:
    query = {"app_label": "retrieval", "model_name": "collection", "field_name": field}
    return client.get(PEOPLE, {**query, **asked, "term": term})


def test_people_and_groups_are_looked_up_by_name(collection: Collection) -> None:
    """Not those who have left, and not guests, whose rows are not active."""
    client = sign_in(collection)
    User.objects.create_user("grace")
    User.objects.create_user("gregory", is_active=False)
    Group.objects.create(name="Grinders")
    people = looked_up(client, "readers", "gr").json()["results"]
    assert [each["text"] for each in people] == ["grace"]
    groups = looked_up(client, "reader_groups", "gri").json()["results"]
    assert [each["text"] for each in groups] == ["Grinders"]


def test_nothing_else_is_looked_up_there(collection: Collection) -> None:
    client = sign_in(collection)
    assert looked_up(client, "name").status_code == 403
    asked = {"model_name": "document"}
    assert looked_up(client, "uploaded_by", **asked).status_code == 403
    assert client.get(PEOPLE).status_code == 403


def test_people_are_looked_up_by_who_may_name_them(client: Client) -> None:
    assert looked_up(client, "readers").status_code == 302
    client.force_login(User.objects.create_user("eve", is_staff=True))
    assert looked_up(client, "readers").status_code == 403
