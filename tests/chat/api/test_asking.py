"""Answers that cannot be read to their end, as each API tells of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import openai
import pytest
from django.db import OperationalError
from langgraph_sdk import get_sync_client

from chat import runs
from chat.frames import Frame, Token
from chat.runstate import RunRefused
from tests.chat.api.conftest import ANSWER, WAIT_SECONDS, Live
from tests.chat.api.native.events import read

QUESTION = "How high is the tower of Lund?"


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Return what the next reader meets behind the first words."""
    errors: list[Exception] = [OperationalError("secret detail")]
    follow = runs.follow

    async def broken(*given: Any) -> AsyncGenerator[Frame]:
        async for frame in follow(*given):
            yield frame
            if isinstance(frame, Token):
                raise errors[0]

    monkeypatch.setattr(runs, "follow", broken)
    return errors


def sdk(live: Live) -> openai.OpenAI:
    address = f"{live.base_url}/openai/v1"
    return openai.OpenAI(base_url=address, api_key=live.token, timeout=WAIT_SECONDS)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OperationalError("secret detail"), "unavailable"),
        (RuntimeError("secret detail"), "internal"),
        (RunRefused("not_found", "There is no such answer."), "not_found"),
    ],
)
def test_a_stream_of_frames_ends_with_an_error(
    live: Live, cut: list[Exception], error: Exception, code: str
) -> None:
    """It is of no run, which goes on, and can be gone on with."""
    cut[0] = error
    with live.client() as client:
        answer = client.post("/api/v1/runs", json={"text": QUESTION})
    *_, last = read(answer.text.splitlines())
    assert (last.name, last.id) == ("error", None)
    assert (last.data["code"], last.data["run"]) == (code, None)
    assert "secret" not in answer.text


def test_a_stream_of_chunks_ends_with_an_error(live: Live, cut: list[Exception]) -> None:
    """Else the SDK would know only that the connection is gone."""
    said = ""
    with (
        sdk(live) as client,
        pytest.raises(openai.APIError, match="database") as caught,
        client.chat.completions.create(
            model="default", messages=[{"role": "user", "content": QUESTION}], stream=True
        ) as stream,
    ):
        for chunk in stream:
            said += chunk.choices[0].delta.content or ""
    assert caught.value.code == "unavailable"
    assert said


def test_a_completion_is_not_asked_for_again(live: Live, cut: list[Exception]) -> None:
    """It has been paid for."""
    asked = len(live.generator.requests)
    with sdk(live) as client, pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(
            model="default", messages=[{"role": "user", "content": QUESTION}]
        )
    assert (caught.value.status_code, caught.value.code) == (503, "unavailable")
    assert len(live.generator.requests) == asked + 1


def test_events_of_r2r_end_as_they_should(live: Live, cut: list[Exception]) -> None:
    body = {"query": QUESTION, "rag_generation_config": {"stream": True}}
    with live.client() as client:
        *_, error, done, _ = client.post("/r2r/v3/retrieval/rag", json=body).text.split("\n\n")
    assert error.startswith("event: error\n")
    assert "unavailable" in error
    assert done == "event: done\ndata: [DONE]"


def test_a_stream_of_langgraph_ends_with_an_error_and_can_be_come_back_to(
    live: Live, cut: list[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind what was read: the error is none of the run's events."""
    with get_sync_client(url=f"{live.base_url}/langgraph", api_key=live.token) as client:
        thread = client.threads.create()["thread_id"]
        asked = {"input": {"messages": QUESTION}, "stream_mode": "messages-tuple"}
        parts = list(client.runs.stream(thread, "default", **asked))
        assert [part.event for part in parts] == ["metadata", "messages", "error", "end"]
        assert parts[2].data["error"] == "unavailable"
        monkeypatch.undo()
        run = parts[0].data["run_id"]
        rest = list(client.runs.join_stream(thread, run, last_event_id=parts[-1].id))
    said = [part.data[0]["content"] for part in (*parts, *rest) if part.event == "messages"]
    assert "".join(said) == "".join(ANSWER)
    assert rest[-1].event == "end"


def test_values_of_langgraph_are_the_error(live: Live, cut: list[Exception]) -> None:
    body = {"assistant_id": "default", "input": {"messages": QUESTION}}
    with live.client() as client:
        values = client.post("/langgraph/runs/wait", json=body).json()
    assert values["__error__"]["error"] == "unavailable"
