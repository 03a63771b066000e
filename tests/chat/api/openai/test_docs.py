"""The examples of the documentation, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import openai
import pytest
from django.conf import settings

from chat.models import Assistant
from tests.chat.api.conftest import Live

DOCUMENT = Path(settings.BASE_DIR) / "docs" / "api" / "openai.md"
ANSWER = "The tower of Lund is 96 metres high [1]."


def test_the_examples_work(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    Assistant.objects.create(name="Assistant", is_default=True)
    text = DOCUMENT.read_text()
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    program = program.replace("http://localhost:8000", live.base_url).replace("rs_…", live.token)
    names: dict[str, object] = {}
    exec(compile(program, DOCUMENT.name, "exec"), names)
    client = names["client"]
    assert isinstance(client, openai.OpenAI)
    client.close()
    *models, answer, cited, streamed, used = capsys.readouterr().out.strip().splitlines()
    assert models == ["Assistant", "hash"]
    assert answer == streamed == ANSWER
    assert cited.startswith("[1] The tower of Lund http")
    assert used == " 12 tokens"
    assert len(live.generator.requests[-1].passages) == 3
