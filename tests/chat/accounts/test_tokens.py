"""Tokens of programs: what is stored, when they work, and what their use leaves."""

import hashlib
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from chat.accounts import tokens
from chat.accounts.models import ApiToken, Scope

pytestmark = pytest.mark.django_db

ADDRESS = "203.0.113.7"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def test_a_token_is_its_user(ada: User) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])

    found = tokens.authenticate(raw)

    assert found == token
    assert found is not None
    assert found.user == ada


def test_only_a_digest_of_the_secret_is_stored(ada: User) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])

    token.refresh_from_db()

    assert len(raw) > 40
    assert token.digest == hashlib.sha256(raw.encode()).hexdigest()
    assert raw not in str(ApiToken.objects.values().get())
    assert raw.startswith(token.start)
    assert len(token.start) < 16


@pytest.mark.parametrize("raw", ["", "rs_", "rs_none", "other", "rs_" + "x" * 10_000, "rs_\x00"])
def test_what_is_no_token_is_nobody(ada: User, raw: str) -> None:
    tokens.make(ada, "Nightly", [Scope.ASK])

    assert tokens.authenticate(raw) is None


def test_what_is_far_too_long_is_not_even_looked_up(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(0):
        assert tokens.authenticate("rs_" + "x" * 1000) is None


def test_a_revoked_token_is_nobody(ada: User) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])

    token.revoke()

    assert tokens.authenticate(raw) is None
    assert token.state == "revoked"


def test_revoking_twice_keeps_the_time_of_the_first(ada: User) -> None:
    token, _ = tokens.make(ada, "Nightly", [Scope.ASK])
    token.revoke()
    first = token.revoked_at

    token.revoke()

    assert token.revoked_at == first


def test_an_expired_token_is_nobody(ada: User) -> None:
    past = timezone.now() - timedelta(seconds=1)
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK], expires_at=past)

    assert tokens.authenticate(raw) is None
    assert token.state == "expired"


def test_a_token_works_until_it_expires(ada: User) -> None:
    future = timezone.now() + timedelta(minutes=1)
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK], expires_at=future)

    assert tokens.authenticate(raw) is not None
    assert token.state == "in force"


def test_the_token_of_a_closed_account_is_nobody(ada: User) -> None:
    _, raw = tokens.make(ada, "Nightly", [Scope.ASK])
    ada.is_active = False
    ada.save()

    assert tokens.authenticate(raw) is None


def test_its_use_is_noted_with_the_address(ada: User) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])

    tokens.authenticate(raw, ADDRESS)

    token.refresh_from_db()
    assert token.last_used_at is not None
    assert token.last_address == ADDRESS


def test_its_use_is_noted_once_a_minute(
    ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])
    with django_assert_num_queries(2):
        tokens.authenticate(raw)
    with django_assert_num_queries(1):
        tokens.authenticate(raw)
    earlier = timezone.now() - timedelta(minutes=2)
    ApiToken.objects.update(last_used_at=earlier)

    tokens.authenticate(raw)

    token.refresh_from_db()
    assert token.last_used_at is not None
    assert token.last_used_at > earlier


@pytest.mark.parametrize(
    ("header", "raw"),
    [
        ("Bearer rs_abc", "rs_abc"),
        ("bearer  rs_abc ", "rs_abc"),
        ("Bearer of-metrics", None),
        ("Basic rs_abc", None),
        ("rs_abc", None),
        ("", None),
    ],
)
def test_only_our_tokens_are_taken_from_the_header(header: str, raw: str | None) -> None:
    assert tokens.from_header(header) == raw
