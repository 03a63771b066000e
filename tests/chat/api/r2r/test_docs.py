"""The examples of the documentation, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.chat.api.conftest import Live
from tests.chat.api.r2r import sdk

DOCUMENT = Path(settings.BASE_DIR) / "docs" / "api" / "r2r.md"
ANSWER = "The tower of Lund is 96 metres high [1]"


def test_the_examples_work(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    text = DOCUMENT.read_text()
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    program = program.replace("http://localhost:8000", live.base_url).replace("rs_…", live.token)
    names: dict[str, object] = {}
    exec(compile(program, DOCUMENT.name, "exec"), names)
    client = names["client"]
    assert isinstance(client, sdk.R2RClient)
    client.client.close()
    taken, first, *others, answer, cited, streamed = capsys.readouterr().out.strip().splitlines()
    assert taken == "The document is queued."
    assert first.endswith("The tower of Lund")
    assert len(others) == 2
    assert answer == f"{ANSWER}."
    assert cited == "1 The tower of Lund"
    assert streamed == f"{ANSWER} (The tower of Lund)."
    assert live.generator.requests[-1].settings.temperature == 0.2
