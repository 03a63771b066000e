"""Who may use which assistant, and the versions of what decides its answers."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries

from chat.accounts.models import Guest
from chat.models import Assistant, AssistantVersion, Audience
from retrieval.models import Collection
from tests import conversations

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _assistants() -> None:
    for audience in Audience:
        Assistant.objects.create(name=audience, visibility=audience)


@pytest.fixture
def ada() -> User:
    return conversations.person("ada")


def usable(user: User | AnonymousUser) -> set[str]:
    return set(Assistant.objects.usable_by(user).values_list("name", flat=True))


def test_who_is_signed_in_may_use_what_is_open_to_them(ada: User) -> None:
    assert usable(ada) == {"signed_in", "public"}


def test_who_is_not_signed_in_may_use_what_is_public() -> None:
    assert usable(AnonymousUser()) == {"public"}
    assert usable(Guest.objects.create_guest()) == {"public"}


def test_who_may_no_longer_sign_in_is_the_public() -> None:
    assert usable(conversations.person("left", is_active=False, is_superuser=True)) == {"public"}


def test_a_person_who_is_named_may_use_what_is_restricted(ada: User) -> None:
    Assistant.objects.get(name="restricted").users.add(ada)
    assert usable(ada) == {"restricted", "signed_in", "public"}
    assert usable(conversations.person("bob")) == {"signed_in", "public"}


def test_a_group_that_is_named_may_use_what_is_restricted(ada: User) -> None:
    group = Group.objects.create(name="Archive")
    Assistant.objects.get(name="restricted").groups.add(group)
    assert usable(ada) == {"signed_in", "public"}
    ada.groups.add(group)
    assert usable(ada) == {"restricted", "signed_in", "public"}


def test_being_staff_opens_nothing() -> None:
    assert usable(conversations.person("staff", is_staff=True)) == {"signed_in", "public"}


def test_who_makes_assistants_may_use_them_all(ada: User) -> None:
    assert usable(conversations.person("root", is_superuser=True)) == set(Audience)
    ada.user_permissions.add(Permission.objects.get(codename="change_assistant"))
    assert usable(ada) == set(Audience)


def test_a_group_of_makers_may_use_them_all(ada: User) -> None:
    makers = Group.objects.create(name="Makers")
    makers.permissions.add(Permission.objects.get(codename="change_assistant"))
    ada.groups.add(makers)
    assert usable(ada) == set(Audience)


def test_nothing_is_asked_while_the_condition_is_made(
    ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        Assistant.objects.usable_by(ada).query.sql_with_params()


def test_the_default_is_preferred_if_it_may_be_used(ada: User) -> None:
    def preferred() -> str:
        return str(Assistant.objects.usable_by(ada).preferred()[0])

    assert preferred() == "public"
    Assistant.objects.filter(name="signed_in").update(is_default=True)
    assert preferred() == "signed_in"
    Assistant.objects.filter(is_default=True).update(visibility=Audience.RESTRICTED)
    assert preferred() == "public"


@pytest.fixture
def archivist() -> Assistant:
    return Assistant.objects.create(name="Archivist", instructions="Be brief.")


def test_a_version_is_what_decides_an_answer(archivist: Assistant, ada: User) -> None:
    towers = Collection.objects.create(name="Towers")
    archivist.collections.add(towers)
    version = archivist.record_version(ada)
    assert (version.number, version.created_by, str(version)) == (1, ada, "Archivist, version 1")
    assert version.configuration == {
        "instructions": "Be brief.",
        "rewrites": True,
        "search_settings": {},
        "model": "",
        "generation": {},
        "answers_without_sources": False,
        "collections": [str(towers.pk)],
    }


@pytest.mark.parametrize(
    "change",
    [
        {"instructions": "Be long."},
        {"rewrites": False},
        {"search_settings": {"limit": 3}},
        {"model": "large"},
        {"generation": {"temperature": 0.5}},
        {"answers_without_sources": True},
    ],
)
def test_what_changes_answers_makes_a_version(
    archivist: Assistant, change: dict[str, object]
) -> None:
    archivist.record_version()
    for field, value in change.items():
        setattr(archivist, field, value)
    archivist.save()
    assert archivist.record_version().number == 2
    assert archivist.version == archivist.record_version()


def test_other_collections_make_a_version(archivist: Assistant) -> None:
    archivist.record_version()
    archivist.collections.add(Collection.objects.create(name="Towers"))
    assert archivist.record_version().number == 2


def test_what_changes_no_answer_makes_none(archivist: Assistant) -> None:
    first = archivist.record_version()
    archivist.name, archivist.greeting, archivist.visibility = "Keeper", "Hi", Audience.PUBLIC
    archivist.save()
    assert archivist.record_version() == first


def test_a_version_never_changes(archivist: Assistant) -> None:
    version = archivist.record_version()
    version.number = 7
    with pytest.raises(TypeError):
        version.save()
    with pytest.raises(TypeError):
        version.delete()


def test_a_version_outlives_its_assistant(archivist: Assistant) -> None:
    version = archivist.record_version()
    archivist.delete()
    assert str(AssistantVersion.objects.get()) == str(version)


def test_a_number_is_given_once(archivist: Assistant) -> None:
    archivist.record_version()
    with pytest.raises(IntegrityError), transaction.atomic():
        AssistantVersion.objects.create(assistant=archivist, name="", number=1, configuration={})
