"""What docs/api.md shows is what happens: its examples are run, one after the other."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from ragsite.environment import BASE_DIR
from tests.chat.api.conftest import Live

EXAMPLES = re.findall(
    r"^```(python|sh)\n(.*?)^```$",
    (BASE_DIR / "docs" / "api.md").read_text(),
    re.MULTILINE | re.DOTALL,
)


def test_the_examples_do_what_they_say(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    known: dict[str, Any] = {}
    said = ""
    with live.worker():
        for kind, example in EXAMPLES:
            code = example.replace("http://localhost:8000", live.base_url)
            if kind == "sh":
                command = ["bash", "-euo", "pipefail", "-c", code]
                environ = {"TOKEN": live.token, "PATH": "/usr/bin:/bin"}
                run = subprocess.run(
                    command, env=environ, capture_output=True, check=True, text=True
                )
                said += run.stdout
            else:
                exec(code.replace("rs_…", live.token), known)
    known["api"].close()
    said += capsys.readouterr().out
    for expected in (
        "ready ['extracting', 'chunking', 'embedding', 'finishing']",
        "tower.md 1",
        "Buildings",
        "The tower of Lund is 96 metres high [1].",
        "event: done",
        "completed The tower of Lund",
        "assistant The tower of Lund",
        "422 bad_settings #/settings/limit",
    ):
        assert expected in said, expected
    assert len(set(said.split()[-2:])) == 1
