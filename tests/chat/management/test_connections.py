"""Whether PostgreSQL has room for the web server's connections."""

import pytest
from django.db import connection
from pytest_django import Settings

from chat.management.connections import most, room, warn_if_scarce

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _one_connection(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"]["pool"], "max_size", 1)
    settings.DATABASE_CONNECTIONS = 0
    settings.WEB_PROCESSES = 1


def test_what_fits_is_no_reason_to_warn(caplog: pytest.LogCaptureFixture) -> None:
    assert most() == 1
    warn_if_scarce()
    assert not caplog.messages


def test_what_postgresql_cannot_give_is_warned_of_with_the_numbers(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATABASE_CONNECTIONS = room() + 1000
    warn_if_scarce()
    assert f"the web server may open {most()}" in caplog.text
    assert "max_connections" in caplog.text


def test_django_s_pool_and_the_event_loop_s_are_counted_for_each_process(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"]["pool"], "max_size", 10)
    settings.DATABASE_CONNECTIONS = 8
    settings.WEB_PROCESSES = 3
    assert most() == 54
