"""A person's sessions: listed, ended one by one, and lasting as long as they are used."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from chat.accounts.sessions import NOTED
from chat.accounts.templatetags.accounts import browser

pytestmark = pytest.mark.django_db

PASSWORD = "rivers under seven lanterns"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def sign_in(username: str = "ada", user_agent: str = FIREFOX) -> Client:
    client = Client(HTTP_USER_AGENT=user_agent)
    client.post(reverse("login"), {"login": username, "password": PASSWORD})
    return client


def session_of(client: Client) -> UserSession:
    return UserSession.objects.get(session_key=client.session.session_key)


def is_signed_in(client: Client) -> bool:
    return client.get(reverse("accounts:overview")).status_code == 200


def test_the_list_names_browser_system_and_address(ada: User) -> None:
    here = sign_in()
    sign_in(user_agent=EDGE)
    page = here.get(reverse("usersessions_list")).content.decode()
    assert "Firefox on Linux" in page
    assert "Edge on Windows" in page
    assert "127.0.0.1" in page
    assert page.count("This one") == 1


def test_one_session_is_ended_and_the_others_go_on(ada: User) -> None:
    here, there, third = sign_in(), sign_in(), sign_in()
    here.post(reverse("accounts:end_session", args=[session_of(there).pk]))
    assert not is_signed_in(there)
    assert is_signed_in(here)
    assert is_signed_in(third)


def test_all_others_are_ended_at_once(ada: User) -> None:
    here, there, third = sign_in(), sign_in(), sign_in()
    here.post(reverse("usersessions_list"))
    assert [is_signed_in(one) for one in (here, there, third)] == [True, False, False]


def test_ending_the_session_one_uses_signs_out(ada: User) -> None:
    here = sign_in()
    here.post(reverse("accounts:end_session", args=[session_of(here).pk]))
    assert not is_signed_in(here)


def test_nobody_ends_the_session_of_another(ada: User) -> None:
    User.objects.create_superuser("eve", password=PASSWORD)
    here, eve = sign_in(), sign_in("eve")
    response = eve.post(reverse("accounts:end_session", args=[session_of(here).pk]))
    assert response.status_code == 404
    assert is_signed_in(here)


def test_a_link_cannot_end_a_session(ada: User) -> None:
    here = sign_in()
    address = reverse("accounts:end_session", args=[session_of(here).pk])
    assert here.get(address).status_code == 405


def test_using_a_session_makes_it_last_on_and_is_noted(ada: User) -> None:
    here = sign_in()
    is_signed_in(here)
    soon, then = timezone.now() + timedelta(hours=1), timezone.now() - timedelta(hours=1)
    session = here.session
    session[NOTED] = int(then.timestamp())
    session.save()
    Session.objects.update(expire_date=soon)
    UserSession.objects.update(last_seen_at=then, ip="203.0.113.1")

    is_signed_in(here)

    assert Session.objects.get().expire_date > soon + timedelta(days=1)
    noted = UserSession.objects.get()
    assert noted.last_seen_at > then
    assert noted.ip == "127.0.0.1"


def test_using_it_again_soon_writes_nothing(
    ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    here = sign_in()
    is_signed_in(here)
    with django_assert_max_num_queries(20) as queries:
        is_signed_in(here)
    assert not [query for query in queries if query["sql"].startswith(("UPDATE", "INSERT"))]


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (EDGE, "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
        ("curl/8.5.0", "curl"),
        ("", "Unknown program"),
    ],
)
def test_browsers_are_named_as_people_know_them(user_agent: str, name: str) -> None:
    assert browser(user_agent) == name
