"""Nothing that is asked, answered or found is in the log, whatever goes wrong."""

from __future__ import annotations

import json
import logging
import logging.config
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from chat.models import Run
from ragsite import logs
from retrieval.database import in_thread
from retrieval.models import Chunk
from tests.provider import Answer, Provider
from tests.sockets import frames_until

ASKED, ANSWERED, FOUND = "quokka", "xylograph", "zyzzyva"
QUESTION = {"type": "ask", "text": f"How high is the {ASKED} tower?", "id": "q1"}
TOKENS = ("The ", ANSWERED, " says", " so", " [1].")
# A provider may repeat in an error what it was sent.
ECHO = {"error": f"cannot read: {ASKED} {FOUND} {ANSWERED}"}
FAULTS = {
    "none": Answer(TOKENS),
    "refused": Answer(TOKENS, status=400, **ECHO),
    "broken": Answer(TOKENS, status=500, **ECHO),
    "unauthorised": Answer(TOKENS, status=401, **ECHO),
    "dropped": Answer(TOKENS, drop_after=3),
    "malformed": Answer(TOKENS, malformed_after=3),
    "failed": Answer(TOKENS, fail_after=3, **ECHO),
    "cut": Answer(TOKENS, finish_reason=None),
    "empty": Answer(()),
}


@pytest.fixture(autouse=True)
def _configured_again() -> Iterator[None]:
    yield
    logging.config.dictConfig(configured.LOGGING)


@pytest.fixture
def asked(  # noqa: PLR0917 - as many fixtures
    provider: Provider,
    settings: Settings,
    user: User,
    tower: Chunk,
    visit: Any,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Any]:
    """Return what asks over a socket, all logging on, and gives the last frame and the log."""
    settings.ANSWER_THRESHOLD = 0
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {
            "BACKEND": "retrieval.backends.openai.OpenAIGenerator",
            "OPTIONS": {"model": "test", "base_url": provider.url, "api_key": "test"},
        },
    }

    async def ask(fault: Answer, level: str = "DEBUG", **options: Any) -> tuple[Any, str]:
        provider.default = fault
        text = f"{tower.text} The {FOUND} lives there."
        await in_thread(Chunk.objects.filter(pk=tower.pk).update, text=text)
        logging.config.dictConfig(logs.configure(level, "json", **options))
        page = await visit(user)
        await page.connect()
        await page.send_json_to(QUESTION)
        frames = await frames_until(page, "done", "error")
        return frames[-1], capsys.readouterr().err

    return ask


def lines(log: str) -> list[dict[str, Any]]:
    """Return the events of a log; each is one line."""
    return [json.loads(line) for line in log.splitlines()]


@pytest.mark.parametrize("fault", FAULTS)
async def test_no_word_of_a_conversation_is_logged(fault: str, asked: Callable[..., Any]) -> None:
    last, log = await asked(FAULTS[fault])
    assert last["type"] == ("done" if fault == "none" else "error"), last
    assert "run ended" in {line["event"] for line in lines(log)}
    for word in (ASKED, ANSWERED, FOUND):
        assert word not in log


@pytest.mark.parametrize("table", ["chat_message", "chat_candidate", "chat_runframe"])
async def test_nor_is_what_the_database_refuses(table: str, asked: Callable[..., Any]) -> None:
    """PostgreSQL tells the whole row that fails a check."""
    refused = {
        "chat_message": f"text !~ '{ANSWERED}'",
        "chat_candidate": f"snippet !~ '{FOUND}'",
        "chat_runframe": f"payload::text !~ '{ANSWERED}|{FOUND}'",
    }
    await in_thread(
        execute, f"ALTER TABLE {table} ADD CONSTRAINT harmless CHECK ({refused[table]})"
    )
    try:
        _, log = await asked(FAULTS["none"])
    finally:
        await in_thread(execute, f"ALTER TABLE {table} DROP CONSTRAINT harmless")
    assert "CheckViolation (23514, table" in log
    for word in (ASKED, ANSWERED, FOUND):
        assert word not in log


async def test_a_setting_lets_questions_be_logged(
    asked: Callable[..., Any], settings: Settings
) -> None:
    settings.LOG_QUESTIONS = True
    _, log = await asked(FAULTS["none"], level="INFO", contents=True)
    (event,) = [line for line in lines(log) if line["event"].startswith("Asked: ")]
    assert event["event"] == f"Asked: {QUESTION['text']}"
    assert event["run"] == str((await in_thread(Run.objects.get)).pk)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
