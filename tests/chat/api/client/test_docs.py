"""The examples of the documentation, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.chat.api.conftest import Live

DOCUMENT = Path(settings.BASE_DIR) / "docs" / "api" / "python.md"
ANSWER = "The tower of Lund is 96 metres high [1]."


def test_the_examples_work(
    live: Live,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    text = DOCUMENT.read_text()
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(examples) == 5
    with live.worker():
        for example in examples:
            program = example.replace("http://localhost:8000", live.base_url)
            program = program.replace("rs_…", live.token)
            exec(compile(program, DOCUMENT.name, "exec"), {"__name__": "example"})
            live.site.rest()
    told = capsys.readouterr().out
    assert told.count(ANSWER) >= 4
    assert "The mill" in told
    assert "StreamEvent" not in told
    assert "end {'usage': {'input_tokens': 10" in told
