"""Static files are collected when there is something new."""

from pathlib import Path

import pytest
from pytest_django import Settings

from chat.management import static


@pytest.fixture
def collected(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the commands that are called, and call none."""
    settings.STATIC_ROOT = tmp_path
    calls: list[str] = []
    monkeypatch.setattr(static, "call_command", lambda name, **options: calls.append(name))
    return calls


def test_the_second_time_nothing_is_collected(collected: list[str]) -> None:
    static.collect()
    static.collect()
    assert collected == ["collectstatic"]


def test_a_changed_file_is_collected(
    collected: list[str], settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("static")
    settings.STATICFILES_DIRS = [folder]
    static.collect()
    (folder / "new.js").write_text("export {};")
    static.collect()
    assert collected == ["collectstatic", "collectstatic"]
