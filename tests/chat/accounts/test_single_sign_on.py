"""Signing in by a provider of OpenID Connect, which is a small server here."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

pytestmark = pytest.mark.django_db

CLIENT, SECRET = "ragsite", "known to both only"
START = "/accounts/oidc/sso/login/"


class Identities(ThreadingHTTPServer):
    """A provider at which one person is signed in: whoever `person` describes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.person: dict[str, Any] = {
            "sub": "1", "email": "ada@example.org", "email_verified": True,
            "preferred_username": "ada", "given_name": "Ada", "family_name": "Berg",
        }  # fmt: skip
        self.challenges: dict[str, str] = {}

    def authorize(self, address: str) -> dict[str, str]:
        """Do what the browser is sent there for; return what it comes back with."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert address.startswith(f"{self.url}/authorize?")
        assert asked["client_id"] == CLIENT
        code = f"code-{len(self.challenges)}"
        self.challenges[code] = asked["code_challenge"]
        return {"code": code, "state": asked["state"]}

    def token(self, asked: dict[str, str]) -> dict[str, Any] | None:
        """Exchange a code once, for the client with the secret and the verifier."""
        digest = hashlib.sha256(asked["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked.get("client_secret") != SECRET or self.challenges.pop(asked["code"]) != challenge:
            return None
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, **self.person}
        id_token = jwt.encode(claims, "a key that nobody checks: it came directly", "HS256")
        return {"access_token": "access", "token_type": "Bearer", "id_token": id_token}


class Handler(BaseHTTPRequestHandler):
    server: Identities

    def do_GET(self) -> None:
        """Describe the provider, or the person."""
        if self.path == "/.well-known/openid-configuration":
            paths = ("authorization", "authorize"), ("token", "token"), ("userinfo", "userinfo")
            endpoints = {f"{name}_endpoint": f"{self.server.url}/{path}" for name, path in paths}
            self.answer({"issuer": self.server.url, "jwks_uri": self.server.url, **endpoints})
        else:
            assert self.headers["Authorization"] == "Bearer access"
            self.answer(self.server.person)

    def do_POST(self) -> None:
        """Give tokens for a code."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        tokens = self.server.token({name: values[0] for name, values in parse_qs(body).items()})
        self.answer(tokens or {"error": "invalid_grant"}, 200 if tokens else 400)

    def answer(self, content: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def provider(settings: Settings) -> Iterator[Identities]:
    with Identities() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        settings.OIDC_SERVER_URL = server.url
        app = {
            "provider_id": "sso", "name": "Lund Accounts", "client_id": CLIENT, "secret": SECRET,
            "settings": {"server_url": server.url},
        }  # fmt: skip
        settings.SOCIALACCOUNT_PROVIDERS = {
            "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}
        }
        yield server
        server.shutdown()


def come_back(client: Client, provider: Identities, **changes: str) -> str:
    """Go to the provider and come back; return where that ends."""
    there = client.get(START)
    answer = provider.authorize(there["Location"]) | changes
    page = client.get(f"{START}callback/?{urlencode(answer)}", follow=True)
    return page.content.decode()


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_the_sign_in_page_offers_it(client: Client, provider: Identities) -> None:
    page = client.get(reverse("login")).content.decode()
    assert "Continue with Lund Accounts" in page
    assert f'href="{START}' in page


def test_without_a_provider_nothing_is_offered(client: Client) -> None:
    assert "Continue with" not in client.get(reverse("login")).content.decode()
    assert client.get(START).status_code == 404


def test_who_comes_for_the_first_time_gets_an_account(client: Client, provider: Identities) -> None:
    come_back(client, provider)
    user = User.objects.get()
    assert is_signed_in(client)
    assert (user.username, user.email, user.first_name) == ("ada", "ada@example.org", "Ada")
    assert not user.has_usable_password()
    assert not user.is_staff


def test_who_comes_again_is_the_same_even_with_another_address(
    client: Client, provider: Identities
) -> None:
    come_back(Client(), provider)
    provider.person["email"] = "ada@elsewhere.example"
    come_back(client, provider)
    assert is_signed_in(client)
    assert User.objects.count() == 1


def test_an_account_that_is_closed_stays_closed(client: Client, provider: Identities) -> None:
    come_back(Client(), provider)
    User.objects.update(is_active=False)
    come_back(client, provider)
    assert not is_signed_in(client)


def test_an_answer_that_was_not_asked_for_is_refused(client: Client, provider: Identities) -> None:
    page = come_back(client, provider, state="made-up")
    assert "That did not work" in page
    assert not is_signed_in(client)


def test_a_code_that_the_provider_does_not_know_is_refused(
    client: Client, provider: Identities
) -> None:
    provider.challenges["other"] = "x"
    page = come_back(client, provider, code="other")
    assert "That did not work" in page
    assert not is_signed_in(client)


def test_the_provider_may_be_kept_from_making_accounts(
    client: Client, provider: Identities, settings: Settings
) -> None:
    settings.OIDC_SIGN_UP = False
    assert "made by administrators" in come_back(client, provider)
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("email", "verified"), [("ada@evil.example", True), ("ada@example.org", False)]
)
def test_with_domains_only_their_confirmed_addresses_get_accounts(
    client: Client, provider: Identities, settings: Settings, email: str, verified: bool
) -> None:
    settings.SIGN_UP_DOMAINS = ["example.org"]
    provider.person |= {"email": email, "email_verified": verified}
    come_back(client, provider)
    assert not User.objects.exists()


def test_an_address_alone_does_not_open_an_account_that_is_here(
    client: Client, provider: Identities
) -> None:
    User.objects.create_superuser("boss", "ada@example.org", "x")
    come_back(client, provider)
    assert not is_signed_in(client)


def test_it_does_where_settings_say_so(
    client: Client, provider: Identities, settings: Settings
) -> None:
    settings.SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
    boss = User.objects.create_user("boss", "ada@example.org", "x")
    come_back(client, provider)
    assert client.session["_auth_user_id"] == str(boss.pk)


def test_an_address_the_provider_has_not_confirmed_never_does(
    client: Client, provider: Identities, settings: Settings
) -> None:
    settings.SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
    provider.person["email_verified"] = False
    User.objects.create_user("boss", "ada@example.org", "x")
    come_back(client, provider)
    assert not is_signed_in(client)


def test_groups_follow_those_at_the_provider(
    client: Client, provider: Identities, settings: Settings
) -> None:
    settings.OIDC_GROUPS = {"kb-editors": "Editors", "kb-readers": "Readers"}
    for name in ("Editors", "Readers", "Chosen here", "kb-other"):
        Group.objects.create(name=name)
    provider.person["groups"] = ["kb-editors", "kb-other"]
    come_back(Client(), provider)
    user = User.objects.get()
    user.groups.add(Group.objects.get(name="Chosen here"))
    assert names(user) == {"Editors", "Chosen here"}

    provider.person["groups"] = ["kb-readers"]
    come_back(Client(), provider)

    assert names(user) == {"Readers", "Chosen here"}


def names(user: User) -> set[str]:
    return set(user.groups.values_list("name", flat=True))


def test_nobody_is_named_like_a_guest(client: Client, provider: Identities) -> None:
    provider.person["preferred_username"] = "guest-0192aaaa"
    come_back(client, provider)
    assert not User.objects.get().username.startswith("guest-")


@pytest.mark.parametrize(
    ("site", "where"), [("cross-site", "/accounts/login/"), ("same-origin", "http")]
)
def test_other_sites_cannot_start_it(
    client: Client, provider: Identities, site: str, where: str
) -> None:
    response = client.get(START, headers={"Sec-Fetch-Site": site})
    assert response["Location"].startswith(where)
