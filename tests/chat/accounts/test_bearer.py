"""Requests of programs: which views a token opens, and in whose name."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, JsonResponse
from django.test import Client
from django.urls import include, path
from pytest_django import Settings

from chat.accounts import tokens
from chat.accounts.bearer import open_to_tokens
from chat.accounts.models import Scope

pytestmark = pytest.mark.django_db


@open_to_tokens(Scope.SEARCH)
def search(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"user": request.user.get_username(), "method": request.method})


def closed(request: HttpRequest) -> JsonResponse:
    return JsonResponse({})


urlpatterns = [path("search/", search), path("closed/", closed), path("", include("ragsite.urls"))]


@pytest.fixture(autouse=True)
def _urls(settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__


@pytest.fixture
def ada() -> User:
    return User.objects.create_superuser("ada")


def ask(raw: str, address: str = "/search/", method: str = "get", **extra: Any) -> Any:
    client = extra.pop("client", None) or Client(enforce_csrf_checks=True)
    return getattr(client, method)(address, headers={"Authorization": f"Bearer {raw}"}, **extra)


def test_a_token_opens_a_view_that_says_so(ada: User) -> None:
    _, raw = tokens.make(ada, "x", [Scope.SEARCH])

    response = ask(raw)

    assert response.json() == {"user": "ada", "method": "GET"}


def test_a_request_with_a_token_needs_no_csrf_token(ada: User) -> None:
    _, raw = tokens.make(ada, "x", [Scope.SEARCH])

    assert ask(raw, method="post").json()["method"] == "POST"


def test_a_request_without_one_still_does() -> None:
    assert Client(enforce_csrf_checks=True).post("/search/").status_code == 403


def test_a_token_without_the_scope_is_refused(ada: User) -> None:
    _, raw = tokens.make(ada, "x", [Scope.ASK, Scope.DOCUMENTS_READ])

    response = ask(raw)

    assert response.status_code == 403
    assert "search" in response.json()["error"]


@pytest.mark.parametrize(
    "address", ["/closed/", "/", "/admin/", "/accounts/", "/accounts/tokens/", "/accounts/2fa/"]
)
def test_a_token_opens_nothing_else(ada: User, address: str) -> None:
    _, raw = tokens.make(ada, "x", Scope.values)

    response = ask(raw, address)

    assert response.status_code == 403
    assert set(response.json()) == {"error"}


def test_a_token_that_is_not_in_force_is_refused_in_those_words(ada: User) -> None:
    token, raw = tokens.make(ada, "x", [Scope.SEARCH])
    token.revoke()

    response = ask(raw)

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert "in force" in json.loads(response.content)["error"]


def test_the_token_decides_and_not_the_session_beside_it(ada: User) -> None:
    client = Client()
    client.force_login(User.objects.create_user("bea"))
    _, raw = tokens.make(ada, "x", [Scope.SEARCH])

    assert ask(raw, client=client).json()["user"] == "ada"


def test_a_refused_token_does_not_fall_back_to_the_session(ada: User) -> None:
    client = Client()
    client.force_login(ada)

    assert ask("rs_none", client=client).status_code == 401


def test_a_token_makes_no_session(ada: User) -> None:
    _, raw = tokens.make(ada, "x", [Scope.SEARCH])

    assert "sessionid" not in ask(raw).cookies
