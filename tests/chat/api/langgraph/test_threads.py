"""Assistants and threads, to the real SDK."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.errors import (
    AuthenticationError,
    ConflictError,
    NotFoundError,
    PermissionDeniedError,
    UnprocessableEntityError,
)

from chat.accounts.models import Scope
from chat.api.langgraph import states
from chat.models import Assistant, Citation, Conversation, Message, Run, RunState
from retrieval.backends.base import QUOTING
from retrieval.models import Collection
from tests.chat.api.conftest import Live
from tests.chat.api.langgraph.conftest import sdk

ANSWER = "The tower of Lund is 96 metres high [1]."


def asked(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


@pytest.fixture(scope="module")
def turns(client: SyncLangGraphClient, live: Live) -> str:
    """Return a thread in which three questions were asked; tests only read it."""
    live.say("The tower of Lund is 96 metres high [1].")
    thread = client.threads.create()["thread_id"]
    for text in ("How high is the tower?", "Who built the tower?", "Where is the tower?"):
        client.runs.wait(thread, "tower-guide", input=asked(text), metadata={"turn": text[0]})
    return thread


def test_assistants_are_those_of_the_site(
    client: SyncLangGraphClient, assistant: Assistant
) -> None:
    (found,) = client.assistants.search()
    assert found["assistant_id"] == str(assistant.pk)
    assert (found["graph_id"], found["name"], found["version"]) == ("tower-guide", "Tower guide", 1)
    for known in (str(assistant.pk), "tower-guide", "Tower guide"):
        assert client.assistants.get(known) == found
    with pytest.raises(NotFoundError):
        client.assistants.get("parrot")
    assert client.assistants.search(graph_id="parrot") == []
    assert client.assistants.search(metadata={"created_by": "system"}) == [found]
    assert client.assistants.search(metadata={"created_by": "me"}) == []
    assert client.assistants.search(select=["name"]) == [{"name": "Tower guide"}]  # type: ignore[typeddict-item]


def test_an_assistant_that_is_closed_to_somebody_is_not_there_for_them(
    client: SyncLangGraphClient,
) -> None:
    hidden = Assistant.objects.create(name="Hidden", visibility="restricted")
    assert "Hidden" not in [each["name"] for each in client.assistants.search()]
    with pytest.raises(NotFoundError):
        client.assistants.get(str(hidden.pk))
    with pytest.raises(NotFoundError, match="There is no assistant “hidden”"):
        client.runs.create(None, "hidden", input=asked("How high?"))


def test_a_new_thread_is_empty(client: SyncLangGraphClient) -> None:
    thread = client.threads.create(metadata={"topic": "towers"}, graph_id="tower-guide")
    assert thread["metadata"] == {"topic": "towers", "graph_id": "tower-guide"}
    assert (thread["status"], thread["values"]) == ("idle", {"messages": []})
    assert client.threads.get(thread["thread_id"]) == thread
    state = client.threads.get_state(thread["thread_id"])
    assert (state["values"], state["next"], state["tasks"]) == ({"messages": []}, [], [])
    assert state["checkpoint"]["checkpoint_id"] is state["parent_checkpoint"] is None
    assert client.threads.get_history(thread["thread_id"]) == []


def test_an_id_of_the_client_s_is_kept_and_taken_once(
    client: SyncLangGraphClient, stranger: SyncLangGraphClient
) -> None:
    own = str(uuid4())
    assert client.threads.create(thread_id=own, metadata={"n": 1})["thread_id"] == own
    with pytest.raises(ConflictError):
        client.threads.create(thread_id=own)
    again = client.threads.create(thread_id=own, metadata={"n": 2}, if_exists="do_nothing")
    assert again["metadata"] == {"n": 1}
    with pytest.raises(ConflictError):
        stranger.threads.create(thread_id=own, if_exists="do_nothing")


def test_metadata_is_merged(client: SyncLangGraphClient, thread: str) -> None:
    client.threads.update(thread, metadata={"a": 1, "b": 1})
    changed = client.threads.update(thread, metadata={"b": 2})
    assert changed["metadata"] == {"a": 1, "b": 2}
    minimal: Any = client.threads.update(thread, metadata={"c": 3}, return_minimal=True)
    assert minimal is None
    assert client.threads.get(thread)["metadata"] == {"a": 1, "b": 2, "c": 3}


def test_a_deleted_thread_is_gone(client: SyncLangGraphClient, thread: str) -> None:
    client.runs.wait(thread, "tower-guide", input=asked("How high?"))
    run = client.runs.list(thread)[0]["run_id"]
    client.threads.delete(thread)
    with pytest.raises(NotFoundError):
        client.threads.get(thread)
    with pytest.raises(NotFoundError):
        client.runs.get(thread, run)
    assert Conversation.with_deleted.get(pk=thread).deleted_at


def test_deleting_a_thread_stops_what_is_answered_in_it(
    client: SyncLangGraphClient, live: Live, thread: str
) -> None:
    live.say("The tower ", live.gate())
    live.generator.closed.clear()
    stream = client.runs.stream(
        thread, "tower-guide", input=asked("How high?"), stream_mode="messages-tuple"
    )
    assert [next(stream).event, next(stream).event] == ["metadata", "messages"]
    waiting = client.runs.create(thread, "tower-guide", input=asked("Who built it?"))
    client.threads.delete(thread)
    assert live.generator.closed.is_set()
    assert Run.objects.get(pk=waiting["run_id"]).state == RunState.CANCELLED
    stream.close()


def test_threads_are_found_by_what_is_kept_with_them(
    client: SyncLangGraphClient, stranger: SyncLangGraphClient
) -> None:
    mark = str(uuid4())
    made = [
        client.threads.create(metadata={"mark": mark, "n": number})["thread_id"]
        for number in range(3)
    ]
    client.runs.wait(made[1], "tower-guide", input=asked("How high?"))

    def found(**wanted: Any) -> list[str]:
        return [
            each["thread_id"] for each in client.threads.search(metadata={"mark": mark}, **wanted)
        ]

    # Those last changed first.
    assert found() == [made[1], made[2], made[0]]
    assert found(limit=1, offset=1) == [made[2]]
    assert found(sort_by="created_at", sort_order="asc") == made
    assert found(ids=made[:1]) == made[:1]
    assert found(status="busy") == []
    assert len(found(status="idle")) == 3
    (only,) = client.threads.search(metadata={"mark": mark, "n": 1}, select=["values", "status"])
    assert set(only) == {"values", "status"}
    assert only["values"]["messages"][-1]["content"] == ANSWER  # type: ignore[index]
    assert stranger.threads.search(metadata={"mark": mark}) == []


def test_what_is_asked_without_a_thread_is_not_listed(client: SyncLangGraphClient) -> None:
    client.runs.wait(None, "tower-guide", input=asked("Is this listed?"))
    shown = str(client.threads.search(limit=1000))
    assert "Is this listed?" not in shown
    client.runs.wait(None, "tower-guide", input=asked("Is this one listed?"), on_completion="keep")
    assert "Is this one listed?" in str(client.threads.search(limit=1000))


def test_history_has_a_state_for_each_turn(client: SyncLangGraphClient, turns: str) -> None:
    history = client.threads.get_history(turns)
    sizes = [len(state["values"]["messages"]) for state in history]  # type: ignore[call-overload]
    assert sizes == [6, 4, 2]
    assert history[0] == client.threads.get_state(turns)
    assert [state["parent_checkpoint"] for state in history[:-1]] == [
        state["checkpoint"] for state in history[1:]
    ]
    assert [state["metadata"]["turn"] for state in history] == ["W", "W", "H"]  # type: ignore[index]
    older = client.threads.get_history(turns, before=history[0]["checkpoint"], limit=1)
    assert older == [history[1]]
    assert client.threads.get_history(turns, metadata={"turn": "H"}) == history[2:]
    named = str(history[1]["checkpoint"]["checkpoint_id"])
    assert client.threads.get_state(turns, checkpoint_id=named) == history[1]
    assert client.threads.get_state(turns, checkpoint=history[2]["checkpoint"]) == history[2]
    only = client.threads.get_state(turns, select=["values.messages", "next"])
    assert only == {"values": history[0]["values"], "next": []}
    with pytest.raises(NotFoundError):
        client.threads.get_state(turns, checkpoint_id="parrot")


def test_what_is_said_on_the_site_is_in_the_thread(client: SyncLangGraphClient, turns: str) -> None:
    """There is one conversation, however it is asked in."""
    stored = Message.objects.filter(conversation=turns)
    messages = client.threads.get_state(turns)["values"]["messages"]  # type: ignore[call-overload]
    assert [each["id"] for each in messages] == [str(each.pk) for each in stored]
    assert Conversation.objects.get(pk=turns).title == "How high is the tower?"


def test_a_thread_is_only_its_owner_s(
    client: SyncLangGraphClient, stranger: SyncLangGraphClient, turns: str
) -> None:
    run = client.runs.list(turns)[0]["run_id"]
    doors: list[Any] = [
        lambda: stranger.threads.get(turns),
        lambda: stranger.threads.update(turns, metadata={"a": 1}),
        lambda: stranger.threads.delete(turns),
        lambda: stranger.threads.get_state(turns),
        lambda: stranger.threads.get_history(turns),
        lambda: stranger.runs.create(turns, "tower-guide", input=asked("How high?")),
        lambda: list(stranger.runs.stream(turns, "tower-guide", input=asked("How high?"))),
        lambda: stranger.runs.list(turns),
        lambda: stranger.runs.get(turns, run),
        lambda: stranger.runs.cancel(turns, run),
        lambda: list(stranger.runs.join_stream(turns, run)),
    ]
    for door in doors:
        with pytest.raises(NotFoundError):
            door()
    assert stranger.threads.search(ids=[turns]) == []
    assert client.threads.get(turns)["metadata"] == {}


def test_what_may_no_longer_be_seen_is_not_in_a_state(
    stranger: SyncLangGraphClient, live: Live
) -> None:
    """A collection was closed to somebody; an answer that only quotes it goes as well."""
    thread = stranger.threads.create()["thread_id"]
    stranger.runs.wait(thread, "tower-guide", input=asked("How high is the tower?"))
    collections = Collection.objects.filter(pk=live.collection.pk)
    collections.update(visibility="restricted")
    try:
        answer = stranger.threads.get_state(thread)["values"]["messages"][-1]  # type: ignore[call-overload]
        assert answer["content"] == ANSWER
        (citation,) = answer["additional_kwargs"]["citations"]
        assert citation["title"] == "A document you may no longer see"
        assert citation["quote"] == citation["document_id"] == ""
        # One that was stopped may quote what it was given, and cites nothing yet.
        own = Run.objects.filter(conversation=thread)
        own.update(model=QUOTING, state=RunState.CANCELLED)
        Citation.objects.filter(message__run__in=own).delete()
        answer = stranger.threads.get_state(thread)["values"]["messages"][-1]  # type: ignore[call-overload]
        assert answer["content"] == "This answer quoted documents you may no longer see."
    finally:
        collections.update(visibility=live.collection.visibility)


def test_the_number_of_queries_of_a_state_does_not_grow(live: Live, turns: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert len(states.of_thread(live.user, UUID(turns))) == 3
    assert len(queries) == 4


def test_who_calls_is_known_by_a_token(live: Live, assistant: Assistant) -> None:
    for token, error in [
        ("rs_wrong", AuthenticationError),
        (None, AuthenticationError),
        (live.make_token(None, Scope.SEARCH), PermissionDeniedError),
    ]:
        with sdk(live, token) as caller:
            with pytest.raises(error):
                caller.assistants.search()
            with pytest.raises(error):
                caller.threads.search()
            with pytest.raises(error):
                list(caller.runs.stream(None, "tower-guide", input=asked("How high?")))
    with sdk(live, live.make_token(None, Scope.ASK)) as caller:
        thread = caller.threads.create()["thread_id"]
        assert caller.runs.wait(thread, "tower-guide", input=asked("How high?"))
        with pytest.raises(PermissionDeniedError, match="conversations"):
            caller.threads.get_state(thread)


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ({"metadata": {"a": "\0"}}, "metadata"),
        ({"metadata": {"a": "x" * 20_001}}, "metadata"),
        ({"thread_id": "parrot"}, "thread_id"),
        ({"if_exists": "perhaps"}, "if_exists"),
        ({"ttl": 7}, "ttl"),
    ],
)
def test_a_thread_that_cannot_be_made_says_why(
    client: SyncLangGraphClient, said: dict[str, Any], where: str
) -> None:
    with pytest.raises(UnprocessableEntityError, match=where):
        client.threads.create(**said)
