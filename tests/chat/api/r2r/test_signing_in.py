"""Signing in with the R2R SDK."""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User

from tests.chat.api.conftest import Live
from tests.chat.api.r2r import sdk
from tests.chat.api.r2r.conftest import Connect

EVE = ("eve", "a password of eve")


@pytest.fixture
def eve(live: Live) -> Iterator[User]:
    """Return somebody with a password."""
    made = User.objects.create_user("eve", email="eve@example.org", password=EVE[1])
    yield made
    made.delete()


@pytest.fixture
def client(eve: User, connect: Connect) -> Any:
    """Return a client that has not signed in."""
    return connect()


def refused(call: Any, *given: Any) -> tuple[int, str]:
    """Return the status and the message of what a call is refused with."""
    with pytest.raises(sdk.R2RException) as error:
        call(*given)
    return error.value.status_code, error.value.message


def events(action: str, **about: Any) -> Any:
    from retrieval.audit.models import AuditEvent  # noqa: PLC0415

    return AuditEvent.objects.filter(action=action, **about)


def test_password_gives_tokens(client: Any, eve: User) -> None:
    """By name or by address; what is done with them is eve's."""
    client.users.login(*EVE)
    me = client.users.me().results
    assert (me.email, me.is_superuser) == ("eve@example.org", False)
    assert client._user_id == me.id
    assert client.retrieval.search("How high is the tower of Lund?").results.chunk_search_results
    client.users.logout()
    client.users.login("eve@example.org", EVE[1])
    assert client.users.me().results.id == me.id
    assert events("login.succeeded", target_id=eve.pk).exists()


def test_stale_token_does_not_keep_anyone_out(client: Any) -> None:
    client.access_token = "rs_stale"
    client.users.login(*EVE)
    assert client.users.me().results.name == "eve"


def test_wrong_password_is_refused_and_recorded(client: Any, eve: User) -> None:
    status, message = refused(client.users.login, "eve", "wrong")
    assert (status, "password" in message) == (401, True)
    assert events("login.failed", target_id=eve.pk).exists()
    assert refused(client.users.login, "nobody", "wrong") == (status, message)
    assert refused(client.users.login, "", "")[0] == 401


def test_guessing_is_limited(client: Any, live: Live) -> None:
    """As on the page, and together with it."""
    for _ in range(3):
        assert refused(client.users.login, "eve", "wrong")[0] == 401
    with live.client(headers={"Authorization": ""}) as page:
        page.get("/accounts/login/")
        for _ in range(2):
            form = {
                "login": "eve",
                "password": "wrong",
                "csrfmiddlewaretoken": page.cookies["csrftoken"],
            }
            assert page.post("/accounts/login/", data=form).status_code == 200
    status, message = refused(client.users.login, *EVE)
    assert (status, "Too many" in message) == (429, True)


def test_requests_to_sign_in_are_limited_by_address(client: Any, monkeypatch: Any) -> None:
    from django.conf import settings  # noqa: PLC0415

    monkeypatch.setattr(settings, "ACCOUNT_RATE_LIMITS", {"login": "2/m/ip"}, raising=False)
    for _ in range(2):
        client.users.login(*EVE)
    client.access_token = None
    assert refused(client.users.login, *EVE)[0] == 429


def test_second_factor_needs_an_api_token(client: Any, eve: User) -> None:
    """Nothing could ask for it here."""
    Authenticator.objects.create(user=eve, type=Authenticator.Type.TOTP, data={})
    status, message = refused(client.users.login, *EVE)
    assert (status, "API token" in message) == (403, True)


def test_address_is_to_be_confirmed_first(client: Any, eve: User) -> None:
    """Of who signed up; not of those whom an administrator gave an account."""
    address = EmailAddress.objects.create(user=eve, email=eve.email, verified=False)
    status, message = refused(client.users.login, *EVE)
    assert (status, "Confirm" in message) == (403, True)
    address.verified = True
    address.save()
    client.users.login(*EVE)


def test_nobody_inactive_signs_in(client: Any, eve: User) -> None:
    User.objects.filter(pk=eve.pk).update(is_active=False)
    assert refused(client.users.login, *EVE)[0] == 401


def test_refreshing_gives_a_new_pair_once(client: Any) -> None:
    client.users.login(*EVE)
    first, used = client.access_token, client._refresh_token
    client.users.refresh_token()
    assert client.access_token != first
    assert client.users.me().results.name == "eve"
    client._refresh_token = used
    assert refused(client.users.refresh_token)[0] == 401
    client.access_token = first
    assert refused(client.users.me)[0] == 401


def test_refresh_token_is_good_for_nothing_else(client: Any) -> None:
    client.users.login(*EVE)
    access, client.access_token = client.access_token, client._refresh_token
    assert refused(client.users.me)[0] == 401
    assert refused(client.documents.list)[0] == 403
    assert refused(client.retrieval.search, "tower")[0] == 403
    client._refresh_token = access
    client.access_token = None
    assert refused(client.users.refresh_token)[0] == 401


def test_new_password_ends_refreshing(client: Any, eve: User) -> None:
    """Whoever knew the old one stays in for an hour at most."""
    client.users.login(*EVE)
    eve.set_password("another one of eve")
    eve.save()
    assert refused(client.users.refresh_token)[0] == 401


def test_tokens_end_soon(client: Any, eve: User) -> None:
    from datetime import timedelta  # noqa: PLC0415

    from django.utils import timezone  # noqa: PLC0415

    client.users.login(*EVE)
    ends = sorted(eve.api_tokens.values_list("expires_at", flat=True))
    assert ends[0] <= timezone.now() + timedelta(hours=1)
    assert ends[1] <= timezone.now() + timedelta(days=7)
    eve.api_tokens.update(expires_at=timezone.now())
    assert refused(client.users.me)[0] == 401
    client.access_token = None
    client.users.login(*EVE)
    assert eve.api_tokens.count() == 2


def test_signing_out_ends_both_tokens(client: Any) -> None:
    client.users.login(*EVE)
    access, refresh = client.access_token, client._refresh_token
    client.users.logout()
    client.access_token, client._refresh_token = access, refresh
    assert refused(client.users.me)[0] == 401
    assert refused(client.users.refresh_token)[0] == 401


def test_signing_out_leaves_tokens_that_a_person_made(live: Live, connect: Connect) -> None:
    """A program that is given one as its login token can go on."""
    client = connect()
    client.access_token = live.token
    client.users.logout()
    client.access_token = live.token
    assert client.users.me().results.name == "ada"


@pytest.mark.parametrize("body", [b"", b"{}", b"[", b'"rs_none"', b'{"a": 1}'])
def test_what_is_no_refresh_token_is_refused(live: Live, body: bytes) -> None:
    with live.client() as plain:
        answer = plain.post("/r2r/v3/users/refresh-token", content=body)
    assert answer.status_code == (401 if body == b'"rs_none"' else 422)
    assert answer.json()["detail"]["message"]


def test_health_needs_no_token(connect: Connect) -> None:
    assert connect().system.health().results.message == "ok"
