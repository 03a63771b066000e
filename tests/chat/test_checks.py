"""System checks of settings."""

import pytest
from pytest_django import Settings

from chat.checks import redis_url


@pytest.mark.parametrize("url", ["", "redis://127.0.0.1", "rediss://host:1/0", "unix:///run/redis"])
def test_an_address_of_redis_is_taken(settings: Settings, url: str) -> None:
    settings.REDIS_URL = url
    assert redis_url() == []


@pytest.mark.parametrize("url", ["127.0.0.1:6379", "http://secret@host"])
def test_what_is_no_address_of_redis_is_reported_without_showing_it(
    settings: Settings, url: str
) -> None:
    settings.REDIS_URL = url
    (error,) = redis_url()
    assert error.id == "chat.E002"
    assert url not in f"{error.msg}{error.hint}"
