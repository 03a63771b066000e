"""Runs by the real SDK: on what terms, several at once, and what is refused."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.errors import (
    ConflictError,
    NotFoundError,
    PermissionDeniedError,
    UnprocessableEntityError,
)

from chat.models import Message, Run
from retrieval.backends.base import ChatMessage
from tests import servers
from tests.chat.api.conftest import Gate, Live

ANSWER = "The tower of Lund is 96 metres high [1]."
HOW_HIGH = {"messages": [{"role": "user", "content": "How high is the tower of Lund?"}]}
WHO = {"messages": [{"role": "user", "content": "Who built the tower?"}]}


def begin_held(client: SyncLangGraphClient, live: Live, thread: str) -> tuple[str, Gate]:
    """Ask, and let the answer wait after its first words; later ones do not wait."""
    gate = live.gate()
    live.say("It is ", gate, "96 metres high [1].")
    run = client.runs.create(thread, "tower-guide", input=HOW_HIGH, stream_mode="messages-tuple")[
        "run_id"
    ]
    stream = client.runs.join_stream(thread, run)
    while next(stream).event != "messages":
        pass
    stream.close()
    live.say("Anna Berg built it [1].")
    return run, gate


def contents(values: Any) -> list[str]:
    return [message["content"] for message in values["messages"]]


def test_a_run_begins_in_the_background_and_can_be_joined(
    client: SyncLangGraphClient, thread: str
) -> None:
    created: list[Any] = []
    run = client.runs.create(
        thread,
        "tower-guide",
        input=HOW_HIGH,
        metadata={"ticket": 7},
        multitask_strategy="reject",
        on_run_created=created.append,
    )
    assert run["status"] in ("pending", "running", "success")
    assert created == [{"run_id": run["run_id"], "thread_id": thread}]
    values = client.runs.join(thread, run["run_id"])
    assert contents(values) == ["How high is the tower of Lund?", ANSWER]
    done = client.runs.get(thread, run["run_id"])
    assert (done["status"], done["metadata"]) == ("success", {"ticket": 7})
    assert done["multitask_strategy"] == "reject"
    assert client.assistants.get(done["assistant_id"])["graph_id"] == "tower-guide"
    assert client.runs.list(thread) == [done]


def test_waiting_gives_the_whole_state(client: SyncLangGraphClient, thread: str) -> None:
    client.runs.wait(thread, "tower-guide", input=HOW_HIGH)
    values = client.runs.wait(thread, "tower-guide", input=WHO)
    assert contents(values) == [
        "How high is the tower of Lund?",
        ANSWER,
        "Who built the tower?",
        ANSWER,
    ]
    assert values == client.threads.get_state(thread)["values"]


def test_runs_are_listed_by_status_the_newest_first(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    client.runs.wait(thread, "tower-guide", input=WHO)
    stopped, _ = begin_held(client, live, thread)
    client.runs.cancel(thread, stopped, wait=True)
    assert [run["status"] for run in client.runs.list(thread)] == ["interrupted", "success"]
    assert [run["run_id"] for run in client.runs.list(thread, status="interrupted")] == [stopped]
    assert client.runs.list(thread, status="error") == []
    assert client.runs.list(thread, limit=1, offset=1, select=["status"]) == [{"status": "success"}]


def test_a_second_question_waits_for_the_first(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    first, gate = begin_held(client, live, thread)
    second = client.runs.create(thread, "tower-guide", input=WHO)
    assert (second["status"], second["multitask_strategy"]) == ("pending", "enqueue")
    servers.wait_until(lambda: Message.objects.get(run=first).text, "the first words are saved")
    state = client.threads.get_state(thread)
    # An answer is in the state when it is there as a whole.
    assert contents(state["values"]) == ["How high is the tower of Lund?", "Who built the tower?"]
    assert state["next"] == ["answer"]
    with ThreadPoolExecutor() as pool:
        stream = pool.submit(
            lambda: list(client.runs.join_stream(thread, second["run_id"], stream_mode="values"))
        )
        gate.open()
        _, asked, answered, _ = stream.result(20)
    # The first answer is there when the second question's turn comes.
    said = ["How high is the tower of Lund?", "It is 96 metres high [1].", "Who built the tower?"]
    assert contents(asked.data) == said
    assert contents(answered.data) == [*said, "Anna Berg built it [1]."]
    assert contents(client.runs.join(thread, first)) == said[:2]


def test_a_second_question_can_be_refused(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    first, gate = begin_held(client, live, thread)
    with pytest.raises(ConflictError):
        client.runs.create(thread, "tower-guide", input=WHO, multitask_strategy="reject")
    with pytest.raises(httpx.HTTPStatusError, match="409"):
        client.runs.wait(thread, "tower-guide", input=WHO, multitask_strategy="reject")
    gate.open()
    assert client.runs.join(thread, first)
    assert len(client.runs.list(thread)) == 1


def test_a_second_question_can_stop_the_first(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    first, _ = begin_held(client, live, thread)
    values = client.runs.wait(thread, "tower-guide", input=WHO, multitask_strategy="interrupt")
    assert contents(values)[-1] == "Anna Berg built it [1]."
    assert client.runs.get(thread, first)["status"] == "interrupted"


def test_without_a_thread_what_was_said_before_is_sent_along(
    client: SyncLangGraphClient, live: Live
) -> None:
    said = [
        {"type": "human", "content": "Tell me of the tower of Lund."},
        {"type": "ai", "content": "It is high."},
        {"type": "human", "content": "How high?"},
    ]
    created: list[Any] = []
    parts = list(
        client.runs.stream(
            None,
            "tower-guide",
            input={"messages": said},
            stream_mode="values",
            on_run_created=created.append,
        )
    )
    assert [part.event for part in parts] == ["metadata", "values", "values", "end"]
    prompt = live.generator.requests[-1].messages
    assert list(prompt[1:3]) == [
        ChatMessage("user", "Tell me of the tower of Lund."),
        ChatMessage("assistant", "It is high."),
    ]
    # It can be followed again by the ids that it got.
    (ids,) = created
    assert list(client.runs.join_stream(ids["thread_id"], ids["run_id"])) == parts


def test_a_thread_is_made_where_the_run_says_so(
    client: SyncLangGraphClient, stranger: SyncLangGraphClient
) -> None:
    thread = str(uuid4())
    with pytest.raises(NotFoundError, match="There is no such thread"):
        client.runs.create(thread, "tower-guide", input=HOW_HIGH)
    assert client.runs.wait(thread, "tower-guide", input=HOW_HIGH, if_not_exists="create")
    assert client.threads.get(thread)["status"] == "idle"
    with pytest.raises(ConflictError):
        stranger.runs.create(thread, "tower-guide", input=HOW_HIGH, if_not_exists="create")


def test_a_run_says_what_is_searched_and_how_it_is_written(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    run = client.runs.create(
        thread,
        "tower-guide",
        input=HOW_HIGH,
        config={"configurable": {"collections": ["Buildings"], "thread_id": thread}},
        context={"settings": {"limit": 2}, "generation": {"temperature": 0.5}},
    )
    client.runs.join(thread, run["run_id"])
    stored = Run.objects.get(pk=run["run_id"])
    assert (stored.settings["limit"], stored.generation) == (2, {"temperature": 0.5})
    with pytest.raises(UnprocessableEntityError, match="There is no collection “Ships”"):
        client.runs.create(
            thread, "tower-guide", input=HOW_HIGH, context={"collections": ["Ships"]}
        )
    with pytest.raises(UnprocessableEntityError, match="temperature"):
        client.runs.create(
            thread, "tower-guide", input=HOW_HIGH, context={"generation": {"temperature": 7}}
        )
    with pytest.raises(PermissionDeniedError, match="model"):
        client.runs.create(thread, "tower-guide", input=HOW_HIGH, context={"model": "parrot"})


def test_a_run_goes_on_from_the_newest_state(client: SyncLangGraphClient, thread: str) -> None:
    for _ in range(2):
        client.runs.wait(thread, "tower-guide", input=HOW_HIGH)
    newest, older = (each["checkpoint"] for each in client.threads.get_history(thread))
    with pytest.raises(UnprocessableEntityError, match="newest state"):
        client.runs.create(thread, "tower-guide", input=WHO, checkpoint=older)
    assert client.runs.wait(thread, "tower-guide", input=WHO, checkpoint=newest)


def test_without_a_thread_there_is_no_state_to_go_on_from(client: SyncLangGraphClient) -> None:
    with pytest.raises(UnprocessableEntityError, match="newest state"):
        client.runs.create(None, "tower-guide", input=WHO, checkpoint_id=str(uuid4()))


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ({"input": None}, "input.messages"),
        ({"input": {"question": "How high?"}}, "input.messages"),
        ({"input": {"messages": []}}, "input.messages"),
        ({"input": {"messages": [{"role": "assistant", "content": "It is."}]}}, "input.messages"),
        ({"input": {"messages": "x" * 20_001}}, "^input.messages: a question has at most 20,000"),
        ({"stream_mode": "debug"}, "^stream_mode.0: "),
        ({"stream_mode": ["values", "events"]}, "^stream_mode.1: "),
        ({"multitask_strategy": "rollback"}, "multitask_strategy"),
        ({"on_disconnect": "wait"}, "on_disconnect"),
        ({"command": {"resume": "yes"}}, "command is not available"),
        ({"webhook": "https://example.org"}, "webhook is not available"),
        ({"interrupt_before": ["answer"]}, "interrupt_before is not available"),
        ({"after_seconds": 60}, "after_seconds is not available"),
        ({"metadata": {"a": "\ud800"}}, "metadata"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(
    live: Live, client: SyncLangGraphClient, thread: str, said: dict[str, Any], where: str
) -> None:
    asked = {"assistant_id": "tower-guide", "input": HOW_HIGH, **said}
    with live.client() as http:
        path = f"/langgraph/threads/{thread}/runs/stream"
        refused = http.post(path, content=json.dumps(asked))
    assert refused.status_code == 422
    assert re.search(where, refused.json()["detail"])
    assert client.runs.list(thread) == []


def test_nothing_is_known_of_runs_that_are_not_there(
    client: SyncLangGraphClient, thread: str
) -> None:
    nobody = str(uuid4())
    for door in (
        lambda: client.runs.get(thread, nobody),
        lambda: client.runs.cancel(thread, nobody),
        lambda: list(client.runs.join_stream(thread, nobody)),
        lambda: client.runs.list(nobody),
    ):
        with pytest.raises(NotFoundError):
            door()
    for waiting in (
        lambda: client.runs.join(thread, nobody),
        lambda: client.runs.cancel(thread, nobody, wait=True),
        lambda: client.runs.wait(nobody, "tower-guide", input=HOW_HIGH),
    ):
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            waiting()
