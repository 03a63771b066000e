"""Limits in the admin, and what people use of them, for staff and for themselves."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat import use
from chat.accounts.models import Guest
from chat.models import RunState
from retrieval.ingestion.uploads import add_document
from retrieval.limits.models import Charge, Limit
from retrieval.limits.quantities import UNLIMITED
from retrieval.models import Collection
from tests.conversations import answered, person

pytestmark = pytest.mark.django_db

ADD = "admin:limits_limit_add"
USE = "admin:limits_limit_use"


@pytest.fixture
def boss(client: Client) -> User:
    made = person("boss", is_staff=True, is_superuser=True)
    client.force_login(made)
    return made


def charge(user: User, **fields: Any) -> Charge:
    values = {"run": uuid4(), "asked_at": timezone.now(), "tokens": 0, **fields}
    return Charge.objects.create(user=user, **values)


def post(client: Client, **fields: Any) -> Any:
    return client.post(reverse(ADD), fields)


def test_numbers_are_written_as_people_say_them(client: Client, boss: User) -> None:
    post(
        client, scope="person", user=boss.pk, questions_a_minute="10", tokens_a_day="1,000,000",
        concurrent_runs=" Unlimited ", uploads_a_day="", storage_bytes="1.5 GB",
    )  # fmt: skip
    limit = Limit.objects.get()
    assert (limit.questions_a_minute, limit.tokens_a_day) == (10, 1_000_000)
    assert (limit.concurrent_runs, limit.uploads_a_day) == (UNLIMITED, None)
    assert limit.storage_bytes == 3 * 2**29
    content = client.get(reverse("admin:limits_limit_change", args=[limit.pk])).content.decode()
    for written in ("1,000,000", "unlimited", "1,536 MB"):
        assert f'value="{written}"' in content
    listed = client.get(reverse("admin:limits_limit_changelist")).content.decode()
    assert "1.5 GB" in listed


@pytest.mark.parametrize("typed", ["-1", "many", "1.5", "9999999999999999999", "1 GB", "0x10"])
def test_what_is_no_number_is_refused(client: Client, boss: User, typed: str) -> None:
    response = post(client, scope="everyone", tokens_a_day=typed)
    assert response.status_code == 200
    assert response.context["adminform"].errors
    assert not Limit.objects.exists()


def test_a_limit_names_whom_it_is_for(client: Client, boss: User) -> None:
    group = Group.objects.create(name="Readers")
    assert "Choose the person." in post(client, scope="person").content.decode()
    assert "Choose the group." in post(client, scope="group", user=boss.pk).content.decode()
    post(client, scope="group", user=boss.pk, group=group.pk, tokens_a_day="1")
    limit = Limit.objects.get()
    assert (limit.user, limit.group) == (None, group)
    again = post(client, scope="group", group=group.pk)
    assert "already exists" in again.content.decode()


def test_there_is_one_limit_for_everyone(client: Client, boss: User) -> None:
    post(client, scope="everyone", tokens_a_day="1")
    again = post(client, scope="everyone", tokens_a_day="2")
    assert "There is a limit for these already" in again.content.decode()


def test_guests_are_given_nothing_to_upload(client: Client, boss: User) -> None:
    response = post(client, scope="guest", uploads_a_day="1")
    assert "Guests upload nothing" in response.content.decode()


def test_staff_see_use_against_limits_and_who_took_most_first(client: Client, boss: User) -> None:
    ada, bob = person("ada"), person("bob")
    Limit.objects.create(user=ada, tokens_a_day=1000, questions_a_minute=2)
    charge(ada, tokens=250)
    charge(bob, tokens=900)
    charge(bob, tokens=0, address=7)
    response = client.get(reverse(USE))
    assert [row[0].username for row in response.context["rows"]] == ["bob", "ada", "boss"]
    content = response.content.decode()
    assert "250 of 1,000" in content
    assert "1 of 2" in content
    assert 'value="0.250"' in content
    assert "2 questions, 1,150 tokens" in content  # of people
    assert "1 question, 0 tokens" in content  # of guests


def test_use_is_searched_and_leaves_guests_out(client: Client, boss: User) -> None:
    person("ada", email="ada@example.org")
    Guest.objects.create_guest()
    rows = client.get(reverse(USE)).context["rows"]
    assert {row[0].username for row in rows} == {"ada", "boss"}
    rows = client.get(reverse(USE), {"q": "example.org"}).context["rows"]
    assert [row[0].username for row in rows] == ["ada"]
    assert "Nobody has that" in client.get(reverse(USE), {"q": "zzz"}).content.decode()


def test_use_takes_the_same_queries_however_many_people(
    client: Client, boss: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        charge(person(f"p{number}"))
    with django_assert_max_num_queries(16):
        assert len(client.get(reverse(USE)).context["rows"]) == 31


def test_who_may_not_see_limits_does_not_see_use(client: Client) -> None:
    client.force_login(person("helper", is_staff=True))
    assert client.get(reverse(USE)).status_code == 403


def test_everything_is_counted_whether_it_is_limited_or_not() -> None:
    ada = person("ada")
    run = answered(ada, state=RunState.RUNNING, lease_expires_at=timezone.now().replace(year=2100))
    charge(ada, run=run.pk, tokens=None)
    charge(ada, tokens=40)
    add_document(
        Collection.objects.create(name="Library"), "a.txt", ContentFile(b"12345", "a.txt"), ada
    )
    used = {meter.quantity.name: (meter.used, meter.allowed) for meter in use.of(ada)}
    assert used == {
        "questions_a_minute": (2, UNLIMITED),
        "tokens_a_day": (40, UNLIMITED),
        "concurrent_runs": (1, UNLIMITED),
        "uploads_a_day": (1, UNLIMITED),
        "storage_bytes": (5, UNLIMITED),
    }


def test_people_see_their_own_use(client: Client) -> None:
    ada = person("ada")
    Limit.objects.create(user=ada, tokens_a_day=1000)
    charge(ada, tokens=1200)
    charge(person("bob"), tokens=77_777)
    client.force_login(ada)
    content = client.get(reverse("accounts:usage")).content.decode()
    assert "1,200 of 1,000: used up" in content
    assert "77,777" not in content
    assert (
        client.get(reverse("accounts:overview")).content.decode().count(reverse("accounts:usage"))
    )


def test_nobody_has_use_who_is_not_signed_in(client: Client) -> None:
    assert client.get(reverse("accounts:usage")).status_code == 302
