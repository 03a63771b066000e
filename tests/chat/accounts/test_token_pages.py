"""The pages on which people make, list and revoke their tokens."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.accounts import tokens
from chat.accounts.models import ApiToken, Scope

pytestmark = pytest.mark.django_db

PASSWORD = "rivers under seven lanterns"
RAW = re.compile(r"rs_[\w-]{43}")
FORM: dict[str, Any] = {"name": "Nightly", "scopes": ["ask"], "days": "30"}


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


@pytest.fixture
def page(client: Client, ada: User) -> Client:
    """Return the browser of ada, who has just confirmed to be her."""
    client.post(reverse("login"), {"login": "ada", "password": PASSWORD})
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


def text(response: Any) -> str:
    content: str = response.content.decode()
    return content


def test_a_token_is_shown_once(page: Client) -> None:
    made = RAW.findall(text(page.post(reverse("accounts:make_token"), FORM)))
    assert len(made) == 1
    assert tokens.authenticate(made[0]) is not None
    listed = text(page.get(reverse("accounts:tokens")))
    assert made[0] not in listed
    assert ApiToken.objects.get().start in listed


def test_the_page_that_shows_it_is_not_kept_by_browsers(page: Client) -> None:
    response = page.post(reverse("accounts:make_token"), FORM)
    assert "no-store" in response["Cache-Control"]


def test_it_has_the_scopes_and_the_time_that_were_chosen(page: Client) -> None:
    page.post(reverse("accounts:make_token"), FORM)
    token = ApiToken.objects.get()
    assert token.scopes == [Scope.ASK]
    assert token.expires_at is not None
    assert (token.expires_at - timezone.now()).days in {29, 30}


def test_it_may_be_good_for_everything(page: Client) -> None:
    page.post(reverse("accounts:make_token"), FORM | {"scopes": list(Scope.values)})
    assert ApiToken.objects.get().scopes == list(Scope.values)


def test_it_may_last_until_it_is_revoked(page: Client) -> None:
    page.post(reverse("accounts:make_token"), FORM | {"days": "0"})
    assert ApiToken.objects.get().expires_at is None


@pytest.mark.parametrize(
    "change",
    [{"name": ""}, {"scopes": []}, {"scopes": ["admin"]}, {"days": "9999"}],
)
def test_a_form_that_is_not_right_makes_none(page: Client, change: dict[str, Any]) -> None:
    response = page.post(reverse("accounts:make_token"), FORM | change)
    assert 'role="alert"' in text(response)
    assert not ApiToken.objects.exists()


def test_only_who_confirms_to_be_the_owner_makes_one(client: Client, ada: User) -> None:
    client.force_login(ada)
    response = client.post(reverse("accounts:make_token"), FORM)
    assert response["Location"].startswith("/accounts/reauthenticate/")
    assert not ApiToken.objects.exists()


def test_revoking_takes_effect_at_once(page: Client, ada: User) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])
    page.post(reverse("accounts:revoke_token", args=[token.pk]))
    assert tokens.authenticate(raw) is None
    assert "Revoked" in text(page.get(reverse("accounts:tokens")))


def test_the_tokens_of_others_do_not_exist(page: Client) -> None:
    eve = User.objects.create_user("eve")
    token, raw = tokens.make(eve, "Hers", [Scope.ASK])
    assert "Hers" not in text(page.get(reverse("accounts:tokens")))
    response = page.post(reverse("accounts:revoke_token", args=[token.pk]))
    assert response.status_code == 404
    assert tokens.authenticate(raw) is not None


def test_the_overview_counts_what_there_is(page: Client, ada: User) -> None:
    tokens.make(ada, "Nightly", [Scope.ASK])
    overview = text(page.get(reverse("accounts:overview")))
    assert "1 in force" in overview
    assert "Signed in on 1 device" in overview
