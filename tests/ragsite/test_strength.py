"""Secrets that a site others can reach does not start with."""

import secrets

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

from ragsite.strength import KEY_BITS, KEY_CHARS, check, weakness
from tests.ragsite.test_settings import run

STRONG = "kq3VZ8u_2mWx0RbY7sJfT-1nGcHdEoLpAaXi9Q5yB6vUtzKw"


@pytest.mark.parametrize(
    "secret",
    [
        "short",
        "django-insecure-" + STRONG,
        "please-changeme-" + STRONG,
        "a" * 60,
        "abc123" * 10,
        "0123456789" * 6,
        "passwordpasswordpasswordpasswordpassword",
    ],
)
def test_weak_keys_are_found(secret: str) -> None:
    assert weakness(secret, KEY_CHARS, KEY_BITS)


def test_keys_that_programs_make_are_strong() -> None:
    for make in (get_random_secret_key, secrets.token_hex, secrets.token_urlsafe):
        for _ in range(200):
            assert weakness(make(), KEY_CHARS, KEY_BITS) == ""


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("weak", "", ("", "")), "SECRET_KEY"),
        ((STRONG, "1234", ("", "")), "METRICS_TOKEN"),
        ((STRONG, "a" * 30, ("", "")), "METRICS_TOKEN"),
        ((STRONG, "", ("postgres", "postgres")), "DATABASE_URL"),
        ((STRONG, "", ("me", "Password")), "DATABASE_URL"),
        ((STRONG, "", ("anna", "anna")), "DATABASE_URL"),
    ],
)
def test_the_message_names_the_variable_and_not_its_value(
    arguments: tuple[str, str, tuple[str, str]], named: str
) -> None:
    with pytest.raises(ImproperlyConfigured) as error:
        check(*arguments)
    assert named in str(error.value)
    assert "weak" not in str(error.value)
    assert "1234" not in str(error.value)


def test_nothing_given_is_nothing_weak() -> None:
    check("", "", ("", ""))
    check(STRONG, secrets.token_urlsafe(16), ("rag", "Tq8-long-enough"))


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"SECRET_KEY": "django-insecure-x"}, "SECRET_KEY"),
        ({"PUBLIC_URL": "https://rag.example.org", "METRICS_TOKEN": "abc"}, "METRICS_TOKEN"),
        ({"PUBLIC_URL": "https://rag.example.org", "DEBUG": "1"}, "DEBUG"),
        (
            {
                "PUBLIC_URL": "https://rag.example.org",
                "DATABASE_URL": "postgres://rag:postgres@127.0.0.1:1/rag",
            },
            "DATABASE_URL",
        ),
    ],
)
def test_such_a_site_does_not_start(environment: dict[str, str], named: str) -> None:
    result = run("manage.py", "check", **environment)
    assert result.returncode == 1
    assert named in result.stderr
    assert "Traceback" not in result.stderr


def test_a_site_for_oneself_may_have_any_key() -> None:
    assert run("manage.py", "check", SECRET_KEY="x", DEBUG="1").returncode == 0
