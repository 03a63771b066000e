"""Whether PostgreSQL has room for a process's pool."""

import pytest
from django.db import connection

from chat.management.connections import room, warn_if_scarce

pytestmark = pytest.mark.django_db


def test_a_pool_that_fits_is_no_reason_to_warn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"]["pool"], "max_size", 1)
    warn_if_scarce()
    assert not caplog.messages


def test_a_pool_that_postgresql_cannot_fill_is_warned_of_with_the_numbers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"]["pool"], "max_size", room() + 1000)
    warn_if_scarce()
    assert f"this process may open {room() + 1000}" in caplog.text
    assert "max_connections" in caplog.text
