"""What the SDK hides: headers, bytes, and errors as they are sent."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

from chat.api import streaming
from chat.api.langgraph.wire import selected
from tests.chat.api.conftest import Live

ASKED = {
    "assistant_id": "tower-guide",
    "input": {"messages": [{"role": "user", "content": "How high is the tower of Lund?"}]},
}


def test_only_fields_that_are_wanted_are_shown() -> None:
    found = {"values": {"messages": [], "title": "a"}, "next": [], "tasks": []}
    assert selected(found, []) == selected(found, None) == found
    assert selected(found, ["next", "parrot", "next.a"]) == {"next": []}
    assert selected(found, ["values.title", "values.parrot"]) == {"values": {"title": "a"}}


def test_a_stream_says_where_it_goes_on(live: Live, client: SyncLangGraphClient) -> None:
    thread = client.threads.create()["thread_id"]
    with live.client() as http:
        sent = http.post(f"/langgraph/threads/{thread}/runs/stream", json=ASKED)
    run = client.runs.list(thread)[0]["run_id"]
    assert sent.status_code == 200
    assert sent.headers["Content-Type"].startswith("text/event-stream")
    assert "no-store" in sent.headers["Cache-Control"]
    assert sent.headers["X-Accel-Buffering"] == "no"
    # Without the prefix: the SDK puts these behind its base URL.
    assert sent.headers["Location"] == f"/threads/{thread}/runs/{run}/stream"
    assert sent.headers["Content-Location"] == f"/threads/{thread}/runs/{run}"
    assert sent.headers["X-Request-Id"]
    assert not sent.headers.get("Set-Cookie")


def test_events_are_lines_of_ascii_with_ids(live: Live, client: SyncLangGraphClient) -> None:
    live.say("Så hög är tornet: 96\u2028m 😀 [1].")
    with live.client() as http:
        sent = http.post("/langgraph/runs/stream", json=ASKED).content
    assert sent.isascii()
    events = sent.decode().removesuffix("\n\n").split("\n\n")
    assert all(re.fullmatch(r"event: \S+\nid: \d+-\d+-\d+\ndata: .*", each) for each in events)
    assert events[-1].startswith("event: end\n")
    assert events[-1].endswith("\ndata: null")


def test_waiting_sends_newlines_until_there_is_json(
    live: Live, client: SyncLangGraphClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.01)
    gate = live.gate()
    live.say("It is ", gate, "96 metres high [1].")
    with live.client() as http, http.stream("POST", "/langgraph/runs/wait", json=ASKED) as sent:
        assert sent.headers["Content-Type"] == "application/json"
        assert re.fullmatch(r"/threads/\S+/runs/\S+/join", sent.headers["Location"])
        parts = sent.iter_raw()
        assert next(parts).strip() == b""
        gate.open()
        body = b"".join(parts)
    assert b"96 metres high" in body


def test_a_stream_is_kept_alive_by_comments_that_the_sdk_passes_over(
    live: Live, client: SyncLangGraphClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.01)
    gate = live.gate()
    live.say("It is ", gate, "96 metres high [1].")
    with live.client() as http, http.stream("POST", "/langgraph/runs/stream", json=ASKED) as sent:
        for line in sent.iter_lines():
            if line.startswith(":"):
                break
        where = sent.headers["Location"].split("/")
        gate.open()
    parts = list(client.runs.join_stream(where[2], where[4]))
    assert [part.event for part in parts] == ["metadata", "values", "values", "end"]


@pytest.mark.parametrize("prefix", ["X-API-Key: ", "Authorization: Bearer "])
def test_either_header_has_the_token(live: Live, client: SyncLangGraphClient, prefix: str) -> None:
    name, _, scheme = prefix.partition(": ")
    with live.client(headers={"Authorization": "", name: f"{scheme}{live.token}"}) as http:
        assert http.post("/langgraph/assistants/search", json={}).status_code == 200
        assert http.get("/langgraph/info").json()["flags"]["assistants"] is True


def test_stopping_answers_with_nothing(live: Live, client: SyncLangGraphClient) -> None:
    live.say("It is ", live.gate())
    thread = client.threads.create()["thread_id"]
    run = client.runs.create(thread, "tower-guide", input=ASKED["input"])["run_id"]
    with live.client() as http:
        path = f"/langgraph/threads/{thread}/runs/{run}/cancel"
        sent = http.post(path, params={"wait": 0, "action": "interrupt"})
        assert (sent.status_code, sent.content) == (202, b"")
        refused = http.post(path, params={"action": "rollback"})
        assert (refused.status_code, set(refused.json())) == (422, {"detail"})
    assert client.runs.get(thread, run)["status"] == "interrupted"


def test_a_body_needs_no_content_type(live: Live, client: SyncLangGraphClient) -> None:
    with live.client() as http:
        assert http.post("/langgraph/threads", content=b'{"metadata": {"a": 1}}').is_success


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/langgraph/parrots", 404),
        ("GET", "/langgraph/", 404),
        ("POST", "/langgraph/threads/", 404),
        ("POST", "/langgraph/store/items/search", 404),
        ("POST", "/langgraph/runs/crons/search", 404),
        ("PUT", "/langgraph/threads", 405),
        ("GET", "/langgraph/threads/parrot", 422),
        ("POST", "/langgraph/threads/search", 400),
    ],
)
def test_errors_are_a_detail(
    live: Live, client: SyncLangGraphClient, method: str, path: str, status: int
) -> None:
    with live.client() as http:
        sent: Any = http.request(method, path, content=b"{" if status == 400 else b"")
    assert sent.status_code == status
    assert set(sent.json()) == {"detail"}
    assert sent.json()["detail"]
