"""What a command finds ready, and what it says when that cannot be."""

from __future__ import annotations

import io
import json
import socket
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import Settings

from retrieval.backends.base import BackendError
from retrieval.management import ready
from retrieval.management.ready import ReadyCommand

pytestmark = pytest.mark.django_db


class Command(ReadyCommand):
    def handle(self, *args: Any, **options: Any) -> None:
        self.say("working")
        self.emit({"done": True})


@pytest.fixture(autouse=True)
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count the times that the model is prepared."""
    calls: list[str] = []

    class Embedder:
        def prepare(self) -> None:
            calls.append("prepare")

    monkeypatch.setattr(ready.backends, "embedder", Embedder)
    return calls


def run(**options: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(Command(), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_the_model_is_prepared_before_the_command_works(prepared: list[str]) -> None:
    run()
    assert prepared == ["prepare"]


def test_with_json_nothing_else_is_on_standard_output() -> None:
    out, err = run(json=True)
    assert json.loads(out) == {"done": True}
    assert err == "working\n"


def test_missing_migrations_are_applied_to_the_embedded_database(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMBEDDED_POSTGRES = True
    MigrationRecorder.Migration.objects.filter(app="chat").delete()
    called: list[str] = []
    monkeypatch.setattr(ready, "call_command", lambda name, **options: called.append(name))
    run()
    assert called == ["migrate"]


def test_a_database_of_ones_own_is_not_migrated(settings: Settings) -> None:
    settings.EMBEDDED_POSTGRES = False
    MigrationRecorder.Migration.objects.filter(app="chat").delete()
    with pytest.raises(CommandError, match=r"manage\.py migrate"):
        run()


def test_an_unreachable_database_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setitem(connection.settings_dict, "PORT", port)
    with pytest.raises(CommandError, match="cannot be reached"):
        ready.check_database()


def test_an_old_postgresql_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "MINIMUM_POSTGRES", 99)
    with pytest.raises(CommandError, match="99 or later is needed"):
        ready.check_database()


def test_an_old_pgvector_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "MINIMUM_PGVECTOR", (9, 1))
    with pytest.raises(CommandError, match=r"pgvector 9\.1 or later; it has 0\."):
        ready.check_database()


def test_a_model_that_cannot_be_prepared_is_told_in_the_backends_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Embedder:
        def prepare(self) -> None:
            raise BackendError("The weights are missing.", retryable=False)

    monkeypatch.setattr(ready.backends, "embedder", Embedder)
    with pytest.raises(CommandError, match=r"The weights are missing\."):
        run()
