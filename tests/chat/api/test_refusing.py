"""What callers are told of what goes wrong, whatever the shape."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from chat.api import refusing
from chat.frames import Error
from tests.chat.api.conftest import Live


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("unauthorized", 502),
        ("unreachable", 502),
        ("timeout", 504),
        ("rate_limited", 503),
        ("context_too_long", 400),
        ("internal", 500),
    ],
)
def test_an_answer_that_broke_off_is_told_by_whose_fault_it_was(code: str, status: int) -> None:
    frame = Error(code=code, message="It broke off.", recoverable=True, retry_in_ms=1500)
    told = refusing.refusal(refusing.AnswerError(frame))
    assert (told.status, told.code, told.headers) == (status, code, {"Retry-After": "2"})


LONG = "x" * 20_001


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("api/v1/runs", {"text": " "}, "text: is empty"),
        ("api/v1/runs", {"text": LONG}, "text: may have at most 20,000 characters"),
        (
            "api/v1/runs",
            {"text": "Why?", "assistant": LONG},
            "assistant: may have at most 200 char",
        ),
        ("api/v1/runs", None, "The body is empty: send a JSON object."),
        ("api/v1/search", {"query": "\0"}, "query: is empty"),
        ("r2r/v3/retrieval/search", {"query": ""}, "query: is empty."),
        ("r2r/v3/retrieval/rag", {"query": LONG}, "query: may have at most 20,000 characters."),
        ("openai/v1/chat/completions", {"model": "", "messages": []}, "model: is empty"),
        ("api/v1/runs", {"text": "Why?", "colections": ["x"]}, "colections: is not known here"),
        (
            "api/v1/runs",
            {"text": "Why?", "collections": []},
            "collections: is empty: name at least",
        ),
        ("api/v1/search", {"query": "Why?", "collections": []}, "collections: is empty: name at"),
        (
            "openai/v1/chat/completions",
            {"model": "x", "messages": [{"role": "user", "content": "Why?"}], "collections": []},
            "collections: is empty: name at least",
        ),
        (
            "langgraph/runs/wait",
            {
                "assistant_id": "tower-guide",
                "input": {"messages": "Why?"},
                "context": {"collections": []},
            },
            "collections: is empty: name at least",
        ),
        ("langgraph/runs/wait", None, "The body is empty: send a JSON object."),
    ],
)
def test_lengths_are_told_in_characters(
    live: Live, path: str, body: dict[str, Any] | None, told: str
) -> None:
    headers = {"Authorization": f"Bearer {live.token}", "Content-Type": "application/json"}
    answer = httpx.post(f"{live.base_url}/{path}", json=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert told in answer.text
