"""Asking, by events and as a whole; following, going on, stopping."""

from __future__ import annotations

from contextlib import ExitStack
from uuid import uuid4

import httpx
import pytest

from chat.models import Conversation, Run
from tests.chat.api.conftest import ANSWER, Gate, Live
from tests.chat.api.native.events import Event, read
from tests.servers import wait_until

QUESTION = "How high is the tower of Lund?"
TEXT = "".join(ANSWER)


def asked(client: httpx.Client, **fields: object) -> list[Event]:
    with client.stream("POST", "runs", json={"text": QUESTION, **fields}) as answer:
        assert answer.status_code == 200, answer.read()
        return list(read(answer.iter_lines()))


def test_an_answer_comes_as_events_that_are_its_frames(ada: httpx.Client) -> None:
    with ada.stream("POST", "runs", json={"text": QUESTION}) as answer:
        events = list(read(answer.iter_lines()))
    headers = answer.headers
    assert headers["Content-Type"] == "text/event-stream"
    assert {"no-cache", "no-transform"} <= {*headers["Cache-Control"].split(", ")}
    assert headers["X-Accel-Buffering"] == "no"
    assert [int(event.id or 0) for event in events] == list(range(1, len(events) + 1))
    assert all(event.name == event.data["type"] for event in events)
    assert "".join(event.data["text"] for event in events if event.name == "token") == TEXT
    assert events[-1].data["answer"] == TEXT
    assert headers["Location"].endswith(events[0].data["run"])


def test_an_answer_comes_as_a_whole_with_what_it_rests_on(ada: httpx.Client, live: Live) -> None:
    answer = ada.post("runs", json={"text": QUESTION, "stream": False}).json()
    assert (answer["state"], answer["text"]) == ("completed", TEXT)
    tower = str(live.documents["tower.md"].pk)
    assert [each["document_id"] for each in answer["citations"]] == [tower]
    assert answer["sources"][0]["title"] == answer["citations"][0]["title"]
    assert answer["results"]
    assert answer["usage"] == {"prompt_tokens": 10, "completion_tokens": 2}


def test_an_answer_that_fails_says_so_without_the_provider_s_words(
    ada: httpx.Client, live: Live
) -> None:
    live.say("The tower", RuntimeError("secret detail"))
    answer = ada.post("runs", json={"text": QUESTION, "stream": False})
    assert answer.json()["state"] == "failed"
    assert answer.json()["error"]["code"]
    assert "secret detail" not in answer.text


def test_a_run_is_gone_on_with_after_the_last_event(ada: httpx.Client) -> None:
    events = asked(ada)
    run = events[0].data["run"]
    for number in (0, 2, len(events) - 1):
        headers = {"Last-Event-ID": str(number)}
        with ada.stream("GET", f"runs/{run}/events", headers=headers) as answer:
            assert list(read(answer.iter_lines())) == events[number:]
        with ada.stream("GET", f"runs/{run}/events", params={"after": number}) as answer:
            assert list(read(answer.iter_lines())) == events[number:]


def test_a_number_beyond_the_end_gets_the_end_anew(ada: httpx.Client) -> None:
    run = asked(ada)[0].data["run"]
    with ada.stream("GET", f"runs/{run}/events", params={"after": 500}) as answer:
        snapshot, done = read(answer.iter_lines())
    assert (snapshot.name, snapshot.data["text"]) == ("snapshot", TEXT)
    assert (done.name, done.data["answer"]) == ("done", TEXT)


def test_a_cut_stream_is_gone_on_with_while_the_answer_is_written(
    ada: httpx.Client, live: Live
) -> None:
    gate = live.gate()
    live.say("The tower ", gate, "is high [1].")
    before: list[Event] = []
    with ada.stream("POST", "runs", json={"text": QUESTION}) as answer:
        for event in read(answer.iter_lines()):
            before.append(event)
            if event.name == "token":
                break
    run, last = before[0].data["run"], before[-1].id or ""
    with ada.stream("GET", f"runs/{run}/events", headers={"Last-Event-ID": last}) as answer:
        gate.open()
        after = list(read(answer.iter_lines()))
    every = [*before, *after]
    assert [int(event.id or 0) for event in every] == list(range(1, len(every) + 1))
    assert every[-1].data["answer"] == "The tower is high [1]."


def test_a_run_is_stopped_and_what_there_is_is_kept(ada: httpx.Client, live: Live) -> None:
    live.say("The tower ", live.gate())
    with ada.stream("POST", "runs", json={"text": QUESTION}) as answer:
        events = read(answer.iter_lines())
        run = next(events).data["run"]
        assert any(event.name == "token" for event in events)
        stopped = ada.post(f"runs/{run}/stop").json()
    assert (stopped["state"], stopped["finish_reason"]) == ("cancelled", "cancelled")
    assert ada.post(f"runs/{run}/stop").json() == stopped
    assert ada.get(f"runs/{run}").json() == stopped


@pytest.mark.parametrize(("on_leave", "state"), [("stop", "cancelled"), ("finish", "completed")])
def test_leaving_does_what_was_asked_for(
    ada: httpx.Client, live: Live, on_leave: str, state: str
) -> None:
    gate = live.gate()
    live.say("The tower ", gate, "is high.")
    with ada.stream("POST", "runs", json={"text": QUESTION, "on_leave": on_leave}) as answer:
        events = read(answer.iter_lines())
        run = next(events).data["run"]
        assert any(event.name == "token" for event in events)
    if on_leave == "finish":
        gate.open()
    wait_until(lambda: ada.get(f"runs/{run}").json()["finished_at"], "the run ends")
    assert ada.get(f"runs/{run}").json()["state"] == state


def test_streams_hold_no_connection_to_the_database(ada: httpx.Client, live: Live) -> None:
    """There are ten for everybody."""
    gate = live.gate()
    live.say("The tower ", gate)
    with ExitStack() as streams:
        for _ in range(12):
            answer = streams.enter_context(ada.stream("POST", "runs", json={"text": QUESTION}))
            assert any("generating" in line for line in answer.iter_lines())
        assert ada.get("me").status_code == 200
        gate.open()


def test_a_question_goes_on_in_its_conversation(ada: httpx.Client) -> None:
    first = asked(ada)[0].data
    second = asked(ada, conversation=first["conversation"])[0].data
    assert second["conversation"] == first["conversation"]
    found = ada.get("runs", params={"conversation": first["conversation"]}).json()
    assert [each["id"] for each in found["items"]] == [second["run"], first["run"]]


def test_what_a_program_keeps_itself_is_not_listed(ada: httpx.Client) -> None:
    asked_first = asked(ada, listed=False, history=[{"role": "user", "content": "Hello"}])
    conversation = Conversation.objects.get(pk=asked_first[0].data["conversation"])
    assert not conversation.listed


def test_the_same_id_asks_once_and_with_another_question_not_at_all(ada: httpx.Client) -> None:
    key = str(uuid4())
    first = asked(ada, id=key)
    again = ada.post("runs", json={"text": QUESTION}, headers={"Idempotency-Key": key})
    assert list(read(again.text.splitlines())) == first
    assert again.headers["Idempotent-Replayed"] == "true"
    other = ada.post("runs", json={"text": "And who built it?", "id": key})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_a_key_and_an_id_that_differ_are_refused(ada: httpx.Client) -> None:
    key = str(uuid4())
    sent = {"json": {"text": QUESTION, "id": str(uuid4())}, "headers": {"Idempotency-Key": key}}
    refused = ada.post("runs", **sent)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "#/id")
    new = ada.post("runs", json={"text": QUESTION, "id": key}, headers={"Idempotency-Key": key})
    assert (new.status_code, new.headers.get("Idempotent-Replayed")) == (200, None)


def test_a_busy_conversation_is_said_before_anything_is_sent(ada: httpx.Client, live: Live) -> None:
    gate: Gate = live.gate()
    live.say("The tower ", gate)
    with ada.stream("POST", "runs", json={"text": QUESTION}) as answer:
        first = next(read(answer.iter_lines())).data
        body = {"text": QUESTION, "conversation": first["conversation"]}
        busy = ada.post("runs", json=body)
        assert (busy.status_code, busy.json()["code"]) == (409, "busy")
        gate.open()


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"text": " "}, "#/text"),
        ({"settings": {"limit": 0}}, "#/settings/limit"),
        ({"settings": {"hybrid_settings": {"fusion": "?"}}}, "#/settings/hybrid_settings/fusion"),
        ({"generation": {"temperature": 99}}, "#/generation/temperature"),
        ({"on_leave": "?"}, "#/on_leave"),
        ({"metadata": {"": 1}}, "#/metadata"),
    ],
)
def test_a_wrong_field_is_named(ada: httpx.Client, fields: dict[str, object], pointer: str) -> None:
    answer = ada.post("runs", json={"text": QUESTION, **fields})
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


def test_others_runs_are_not_there(ada: httpx.Client, bob: httpx.Client) -> None:
    first = asked(ada)[0].data
    run = first["run"]
    assert bob.get(f"runs/{run}").status_code == 404
    assert bob.get(f"runs/{run}/events").status_code == 404
    assert bob.post(f"runs/{run}/stop").status_code == 404
    body = {"text": QUESTION, "conversation": first["conversation"]}
    assert bob.post("runs", json=body).status_code == 404
    assert run not in [each["id"] for each in bob.get("runs").json()["items"]]
    assert Run.objects.filter(conversation=first["conversation"]).count() == 1
