"""The examples of the documentation, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from chat.models import Assistant
from tests.chat.api.conftest import Live

DOCUMENT = Path(settings.BASE_DIR) / "docs" / "api" / "langgraph.md"


def test_the_examples_work(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    Assistant.objects.create(name="Assistant", is_default=True)
    text = DOCUMENT.read_text()
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    program = program.replace("http://localhost:8000", live.base_url).replace("rs_…", live.token)
    assert program.count(live.token) == 2
    names: dict[str, object] = {}
    exec(compile(program, DOCUMENT.name, "exec"), names)
    names["client"].http.client.close()  # type: ignore[attr-defined]
    assistants, answer, citation, whole = capsys.readouterr().out.strip().splitlines()
    assert assistants.endswith(" assistant Assistant")
    assert answer == whole == "The tower of Lund is 96 metres high [1]."
    assert citation == "[1] The tower of Lund The tower of Lund is 96 metres high."
