"""What is written about the settings is what the code reads."""

from __future__ import annotations

import re
import runpy
import sys
from itertools import product
from typing import Any

import environ
import pytest

from ragsite import backends, environment, postgres, state
from ragsite.environment import BASE_DIR

DOCUMENTED = re.compile(r"^\| `([A-Z_]+)` \|", re.MULTILINE)
# What Python code reads without going through `env`.
READ = re.compile(r"""os\.environ(?:\.get\(|\[)"([A-Z_]+)\"""")
NOT_OURS = {"PATH"}


class Recorder(environ.Env):  # type: ignore[misc]
    """An empty environment that remembers what it was asked for."""

    def __init__(self, **given: str) -> None:
        super().__init__()
        self.ENVIRON = given
        self.asked: set[str] = set()

    def get_value(self, var: str, *args: Any, **kwargs: Any) -> Any:
        self.asked.add(var)
        return super().get_value(var, *args, **kwargs)


def documented() -> set[str]:
    return set(DOCUMENTED.findall((BASE_DIR / "docs" / "settings.md").read_text()))


def test_every_variable_that_is_read_is_documented_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder = Recorder()
    for module in (environment, state, postgres):
        monkeypatch.setattr(module, "env", recorder)
    for part in ("limits", "privacy", "security", "signing_in"):
        monkeypatch.delitem(sys.modules, f"ragsite.{part}")
    runpy.run_path(str(BASE_DIR / "ragsite" / "settings.py"))
    asked = recorder.asked
    for choice in product(*backends.ALLOWED.values()):
        chosen = Recorder(**dict(zip(backends.ALLOWED, choice, strict=True)))
        backends.from_environment(chosen)
        asked |= chosen.asked
    for package in ("ragsite", "chat", "retrieval"):
        for path in (BASE_DIR / package).rglob("*.py"):
            asked |= set(READ.findall(path.read_text())) - NOT_OURS
    assert documented() == asked


def test_the_example_names_documented_variables_only() -> None:
    example = (BASE_DIR / ".env.example").read_text()
    assert set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE)) <= documented()


def test_the_readme_begins_with_the_two_commands() -> None:
    readme = (BASE_DIR / "README.md").read_text()
    block = re.search(r"```\w*\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    assert "make run" in block[1]
    assert "make test" in block[1]


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/architecture.md"]
)
def test_files_that_a_page_names_exist(page: str) -> None:
    text = (BASE_DIR / page).read_text()
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    paths = re.findall(r"`((?:ragsite|chat|retrieval|templates|static|tests|docs)/[\w/.-]+)`", text)
    folder = (BASE_DIR / page).parent
    missing = [link for link in links if not (folder / link).exists()]
    missing += [path for path in paths if not (BASE_DIR / path).exists()]
    assert missing == []
