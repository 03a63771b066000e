"""The door: who gets in, by what, and what somebody who guesses learns."""

import re

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.chat.accounts.entering import LOGIN, PASSWORD, is_signed_in, sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


@pytest.mark.parametrize("login", ["ada", "ADA", "ada@example.org", "Ada@Example.org", " ada "])
def test_people_sign_in_by_username_or_address(client: Client, ada: User, login: str) -> None:
    sign_in(client, login)
    assert is_signed_in(client)


def test_programs_may_call_the_field_username(client: Client, ada: User) -> None:
    response = client.post(LOGIN, {"username": "ada", "password": PASSWORD})
    assert response["Location"] == "/"
    assert is_signed_in(client)


def test_one_comes_to_where_one_was_going(client: Client, ada: User) -> None:
    page = client.get("/admin/", follow=True)
    assert page.redirect_chain[-1][0] == "/accounts/login/?next=%2Fadmin%2F"
    form = {"login": "ada", "password": PASSWORD, "next": "/admin/"}
    assert client.post(LOGIN, form)["Location"] == "/admin/"


def test_one_is_led_to_no_other_site(client: Client, ada: User) -> None:
    form = {"login": "ada", "password": PASSWORD, "next": "https://evil.example/"}
    assert client.post(LOGIN, form)["Location"] == "/"


def test_a_wrong_password_and_a_wrong_name_are_told_alike(client: Client, ada: User) -> None:
    wrong_password = sign_in(client, "ada", "wrong")
    wrong_name = sign_in(client, "eve", "wrong")
    alert = re.compile(r'role="alert">([^<]+)<')
    assert alert.findall(wrong_password)[0] == alert.findall(wrong_name)[0]
    assert not is_signed_in(client)


def test_an_account_that_is_closed_is_not_let_in(client: Client, ada: User) -> None:
    User.objects.update(is_active=False)
    sign_in(client, "ada")
    assert not is_signed_in(client)


def test_guessing_is_stopped_even_for_the_right_password(client: Client, ada: User) -> None:
    for _ in range(5):
        sign_in(client, "ada", "wrong")
    said = sign_in(client, "ada")
    assert "Too many" in said
    assert not is_signed_in(client)


def test_guesses_count_for_an_account_by_any_host_and_any_of_its_names(ada: User) -> None:
    hosts = ("testserver", "testserver:81", "testserver:82", "testserver:83", "testserver:84")
    names = ("ada", "ADA", "ada@example.org", " Ada@Example.org", "ada")
    for host, name in zip(hosts, names, strict=True):
        sign_in(Client(HTTP_HOST=host), name, "wrong")
    other = Client(HTTP_HOST="testserver:85", REMOTE_ADDR="203.0.113.9")
    assert "Too many" in sign_in(other, "ada")
    assert not is_signed_in(other)


def test_guesses_at_a_name_that_nobody_has_count_by_any_host(db: None) -> None:
    for port in range(81, 86):
        sign_in(Client(HTTP_HOST=f"testserver:{port}"), "Bob@example.org", "wrong")
    other = Client(HTTP_HOST="testserver:90", REMOTE_ADDR="203.0.113.9")
    assert "Too many" in sign_in(other, "bob@example.org", "wrong")


def test_guessing_at_many_accounts_is_stopped_by_address(client: Client, ada: User) -> None:
    for number in range(10):
        sign_in(client, f"user-{number}", "wrong")
    assert "Too many" in sign_in(client, "ada")
    other = Client(REMOTE_ADDR="203.0.113.9")
    sign_in(other, "ada")
    assert is_signed_in(other)


def test_an_address_that_a_client_makes_up_counts_for_nothing(client: Client, ada: User) -> None:
    for number in range(10):
        client.post(
            LOGIN,
            {"login": f"user-{number}", "password": "wrong"},
            headers={"X-Forwarded-For": f"203.0.113.{number}"},
        )
    assert "Too many" in sign_in(client, "ada")


def test_behind_a_proxy_of_ours_its_word_is_taken(
    client: Client, ada: User, settings: Settings
) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    for number in range(10):
        client.post(
            LOGIN,
            {"login": f"user-{number}", "password": "wrong"},
            headers={"X-Forwarded-For": f"10.0.0.1, 203.0.113.{number}"},
        )
    form = {"login": "ada", "password": PASSWORD}
    client.post(LOGIN, form, headers={"X-Forwarded-For": "198.51.100.1"})
    assert is_signed_in(client)


def test_too_many_requests_get_a_page_of_ours(client: Client) -> None:
    for _ in range(30):
        client.post(LOGIN, {})
    response = client.post(LOGIN, {})
    assert response.status_code == 429
    assert "Too many attempts" in response.content.decode()


def test_a_session_ends_with_the_browser_unless_one_asks_to_stay(ada: User) -> None:
    leaving, staying = Client(), Client()
    sign_in(leaving, "ada")
    sign_in(staying, "ada", remember="on")
    assert leaving.cookies["sessionid"]["max-age"] == ""
    assert staying.cookies["sessionid"]["max-age"] == 14 * 24 * 3600


def test_signing_out_ends_the_session(client: Client, ada: User) -> None:
    sign_in(client, "ada")
    response = client.post("/accounts/logout/")
    assert response["Location"] == LOGIN
    assert not is_signed_in(client)
    assert not Session.objects.exists()


def test_the_admin_has_no_door_of_its_own(client: Client, admin_user: User) -> None:
    form = {"username": "admin", "password": "password"}
    response = client.post("/admin/login/", form)
    assert response["Location"].startswith(LOGIN)
    assert not is_signed_in(client)


def test_the_admins_own_page_of_passwords_leads_to_ours(admin_client: Client) -> None:
    response = admin_client.get(reverse("admin:password_change"))
    assert response["Location"] == reverse("account_change_password")
