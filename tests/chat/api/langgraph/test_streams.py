"""Runs that are streamed to the real SDK, followed again, and stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, get_args

import pytest
from langgraph_sdk._sync import http as sdk_http
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.schema import StreamPart

from chat.api.langgraph.events import Mode
from chat.models import RunFrame
from retrieval.backends.base import BackendError
from tests import servers
from tests.chat.api.conftest import Live
from tests.chat.api.langgraph.conftest import sdk

ASKED = {"messages": [{"role": "user", "content": "How high is the tower of Lund?"}]}
ANSWER = "The tower of Lund is 96 metres high [1]."
MODES: Sequence[Any] = get_args(Mode)


def names(parts: Sequence[StreamPart]) -> list[str]:
    """Return what comes after what; words may share a frame, or not."""
    return [name for name, _ in groupby(part.event for part in parts)]


def said(parts: Sequence[StreamPart]) -> str:
    return "".join(part.data[0]["content"] for part in parts if part.event == "messages")


def until(parts: Iterator[StreamPart], event: str) -> list[StreamPart]:
    """Read up to the first event of a name."""
    read = []
    for part in parts:
        read.append(part)
        if part.event == event:
            return read
    raise AssertionError(f"there was no {event}")


def status(client: SyncLangGraphClient, thread: str, run: str) -> str:
    return client.runs.get(thread, run)["status"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("values", ["values"]),
        ("updates", ["updates"]),
        ("messages", ["messages/metadata", "messages/partial", "messages/complete"]),
        ("messages-tuple", ["messages"]),
        ("custom", ["custom"]),
        (["values", "messages-tuple"], ["values", "messages", "values"]),
    ],
)
def test_each_mode_has_its_events(
    client: SyncLangGraphClient, thread: str, mode: Any, expected: list[str]
) -> None:
    parts = list(client.runs.stream(thread, "tower-guide", input=ASKED, stream_mode=mode))
    assert names(parts) == ["metadata", *expected, "end"]
    assert [part.event for part in parts].count("end") == 1
    assert (parts[-1].event, parts[-1].data) == ("end", None)
    run = client.runs.list(thread)[0]
    assert parts[0].data == {"run_id": run["run_id"]}
    assert run["status"] == "success"
    assert len({part.id for part in parts}) == len(parts)
    if mode == "messages-tuple":
        assert said(parts) == ANSWER


def test_values_are_the_question_then_the_thread_s_state(
    client: SyncLangGraphClient, thread: str
) -> None:
    _, asked, answered, _ = client.runs.stream(thread, "tower-guide", input=ASKED)
    assert [each["type"] for each in asked.data["messages"]] == ["human"]
    assert [each["content"] for each in answered.data["messages"]] == [
        "How high is the tower of Lund?",
        ANSWER,
    ]
    citation = answered.data["messages"][1]["additional_kwargs"]["citations"][0]
    start, end = citation["span"]
    assert (citation["index"], ANSWER[start:end]) == (1, "[1]")
    assert citation["title"] == "The tower of Lund"
    assert client.threads.get_state(thread)["values"] == answered.data


def test_an_answer_has_one_id_in_all_that_shows_it(
    client: SyncLangGraphClient, thread: str
) -> None:
    modes: Any = ["values", "messages", "messages-tuple"]
    parts = list(client.runs.stream(thread, "tower-guide", input=ASKED, stream_mode=modes))
    ids = {part.data[0]["id"] for part in parts if part.event in ("messages", "messages/partial")}
    ids |= {key for part in parts if part.event == "messages/metadata" for key in part.data}
    state = client.threads.get_state(thread)
    assert ids == {state["values"]["messages"][-1]["id"]}  # type: ignore[call-overload]


def test_custom_events_are_the_frames(client: SyncLangGraphClient, thread: str) -> None:
    parts = list(client.runs.stream(thread, "tower-guide", input=ASKED, stream_mode="custom"))
    frames = [part.data for part in parts if part.event == "custom"]
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    kinds = [kind for kind, _ in groupby(frame["type"] for frame in frames)]
    assert kinds[:3] == ["status", "search_results", "status"]
    assert kinds[-1] == "done"
    assert "".join(frame["text"] for frame in frames if frame["type"] == "token") == ANSWER


def test_the_second_format_of_the_sdk(client: SyncLangGraphClient, thread: str) -> None:
    parts = list(client.runs.stream(thread, "tower-guide", input=ASKED, version="v2"))
    assert [part["type"] for part in parts] == ["metadata", "values", "values"]


def test_a_reader_goes_on_where_it_was(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    gate = live.gate()
    live.say("The tower of Lund is ", gate, "96 metres high [1].")
    stream = client.runs.stream(thread, "tower-guide", input=ASKED, stream_mode=list(MODES))
    first = until(stream, "messages")
    stream.close()
    run = first[0].data["run_id"]
    rest = client.runs.join_stream(thread, run, last_event_id=first[-1].id)
    gate.open()
    both = [*first, *rest]
    # A reader from the beginning gets the same, when all has ended, too.
    whole = list(client.runs.join_stream(thread, run, stream_mode=list(MODES)))
    assert both == whole
    assert said(both) == ANSWER


def test_the_sdk_comes_back_by_itself_when_it_is_cut_off(
    live: Live, client: SyncLangGraphClient, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the modes that it asked for, which it does not say again."""
    monkeypatch.setattr(sdk_http, "_reconnect_delay", lambda *_, **__: 0)
    gate = live.gate()
    live.say("The tower of Lund is ", gate, "96 metres high [1].")
    relay = servers.Relay(live.site.port)
    relay.open()
    try:
        with sdk(live, live.token, f"http://127.0.0.1:{relay.port}") as cut_off:
            modes: Any = ["messages-tuple", "custom"]
            stream = cut_off.runs.stream(thread, "tower-guide", input=ASKED, stream_mode=modes)
            first = until(stream, "messages")
            relay.drop()
            gate.open()
            parts = [*first, *stream]
    finally:
        relay.cut()
    run = parts[0].data["run_id"]
    assert parts == list(client.runs.join_stream(thread, run, stream_mode=modes))


def test_a_run_can_be_read_when_its_frames_are_forgotten(
    client: SyncLangGraphClient, thread: str
) -> None:
    modes: Any = ["values", "messages-tuple"]
    parts = list(client.runs.stream(thread, "tower-guide", input=ASKED, stream_mode=modes))
    run = parts[0].data["run_id"]
    RunFrame.objects.filter(run=run).delete()
    assert said(list(client.runs.join_stream(thread, run))) == ANSWER
    first = next(number for number, part in enumerate(parts) if part.event == "messages")
    rest = list(client.runs.join_stream(thread, run, last_event_id=parts[first].id))
    assert said([*parts[: first + 1], *rest]) == ANSWER
    assert names(rest) == ["messages", "values", "end"]


def test_a_stopped_run_keeps_what_was_said(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    live.say("The tower of Lund ", live.gate(), "is 96 metres high [1].")
    live.generator.closed.clear()
    modes: Any = ["values", "messages-tuple"]
    stream = client.runs.stream(thread, "tower-guide", input=ASKED, stream_mode=modes)
    first = until(stream, "messages")
    run = first[0].data["run_id"]
    assert status(client, thread, run) == "running"
    assert client.threads.get(thread)["status"] == "busy"
    values: Any = client.runs.cancel(thread, run, wait=True)
    assert live.generator.closed.is_set()
    parts = [*first, *stream]
    assert names(parts) == ["metadata", "values", "messages", "values", "end"]
    assert said(parts) == values["messages"][-1]["content"] == "The tower of Lund"
    assert parts[-2].data == values == client.threads.get_state(thread)["values"]
    assert status(client, thread, run) == "interrupted"
    assert client.threads.get(thread)["status"] == "interrupted"


def test_stopping_what_has_ended_is_a_success(client: SyncLangGraphClient, thread: str) -> None:
    values = client.runs.wait(thread, "tower-guide", input=ASKED)
    run = client.runs.list(thread)[0]["run_id"]
    client.runs.cancel(thread, run)
    assert client.runs.cancel(thread, run, wait=True) == values  # type: ignore[func-returns-value]
    assert status(client, thread, run) == "success"


def test_who_leaves_can_end_the_run(client: SyncLangGraphClient, live: Live, thread: str) -> None:
    live.say("The tower of Lund ", live.gate())
    live.generator.closed.clear()
    stream = client.runs.stream(
        thread, "tower-guide", input=ASKED, stream_mode="messages-tuple", on_disconnect="cancel"
    )
    run = until(stream, "messages")[0].data["run_id"]
    stream.close()
    servers.wait_until(live.generator.closed.is_set, "the provider's stream is closed")
    values: Any = client.runs.join(thread, run)
    assert values["messages"][-1]["content"] == "The tower of Lund"
    assert status(client, thread, run) == "interrupted"


def test_who_leaves_can_let_the_run_go_on(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    gate = live.gate()
    live.say("The tower of Lund is ", gate, "96 metres high [1].")
    stream = client.runs.stream(
        thread, "tower-guide", input=ASKED, stream_mode="messages-tuple", on_disconnect="continue"
    )
    run = until(stream, "messages")[0].data["run_id"]
    stream.close()
    gate.open()
    assert client.runs.join(thread, run)["messages"][-1]["content"] == ANSWER
    assert status(client, thread, run) == "success"


def test_a_second_reader_can_end_the_run_when_it_leaves(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    live.say("The tower of Lund ", live.gate())
    run = client.runs.create(thread, "tower-guide", input=ASKED, stream_mode="messages-tuple")
    stream = client.runs.join_stream(thread, run["run_id"], cancel_on_disconnect=True)
    until(stream, "messages")
    stream.close()
    servers.wait_until(
        lambda: status(client, thread, run["run_id"]) == "interrupted", "the run is stopped"
    )
    assert client.runs.join(thread, run["run_id"])["messages"][-1]["content"] == "The tower of Lund"


def test_a_failure_in_the_middle_is_told_and_ends_the_stream(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    live.say("The tower ", BackendError("secret detail", retryable=False, code="unreachable"))
    modes: Any = ["values", "messages-tuple"]
    parts = list(client.runs.stream(thread, "tower-guide", input=ASKED, stream_mode=modes))
    assert names(parts) == ["metadata", "values", "messages", "error", "end"]
    assert parts[-2].data["error"] == "unreachable"
    run = parts[0].data["run_id"]
    assert client.runs.join(thread, run) == {"__error__": parts[-2].data}
    assert status(client, thread, run) == client.threads.get(thread)["status"] == "error"
    assert [each["run_id"] for each in client.runs.list(thread, status="error")] == [run]
    assert client.threads.search(ids=[thread], status="error", select=["thread_id"])
    with pytest.raises(Exception, match=r"^unreachable: "):
        client.runs.wait(thread, "tower-guide", input=ASKED)
    live.say(ANSWER)
    client.runs.wait(thread, "tower-guide", input=ASKED)
    assert client.threads.get(thread)["status"] == "idle"
    assert client.runs.list(thread, status="timeout") == []


async def test_the_asynchronous_sdk(aclient: LangGraphClient, live: Live) -> None:
    created: list[Any] = []
    thread = (await aclient.threads.create())["thread_id"]
    live.say("The tower of Lund is ", gate := live.gate(), "96 metres high [1].")
    parts: list[StreamPart] = []
    async for part in aclient.runs.stream(
        thread,
        "tower-guide",
        input=ASKED,
        stream_mode=["values", "messages-tuple"],
        on_run_created=created.append,
    ):
        parts.append(part)
        if part.event == "messages":
            gate.open()
    assert names(parts) == ["metadata", "values", "messages", "values", "end"]
    assert said(parts) == ANSWER
    assert created == [{"run_id": parts[0].data["run_id"], "thread_id": thread}]
    rest = aclient.runs.join_stream(thread, created[0]["run_id"], last_event_id=parts[1].id)
    assert [part async for part in rest] == parts[2:]
    assert await aclient.runs.join(thread, created[0]["run_id"]) == parts[-2].data
