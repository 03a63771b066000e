"""Questions over HTTP: events, frames, cuts, and leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from chat.client import (
    AnswerFailedError,
    AsyncRagClient,
    BadRequestError,
    NotAllowedError,
    NotAvailableError,
    NotFoundError,
    NotSignedInError,
    RagClient,
    StreamEvent,
    UnavailableError,
)
from chat.frames import Done, Frame, Status, Token
from chat.models import Run, RunState
from retrieval.backends.base import BackendError
from tests.chat.api.conftest import ANSWER, Live
from tests.servers import Relay

QUESTION = "How high is the tower?"
TEXT = "".join(ANSWER)


def text_of(events: list[StreamEvent]) -> str:
    return "".join(each.data["content"] for each in events if each.type == "messages-tuple")


def read_to_text(frames: Iterator[Frame]) -> list[Frame]:
    """Read until a piece of the answer has come."""
    read: list[Frame] = []
    for frame in frames:
        read.append(frame)
        if isinstance(frame, Token):
            break
    return read


def test_an_answer_is_events_up_to_the_end(client: RagClient) -> None:
    events = list(client.stream(QUESTION))
    assert [each.type for each in events if each.type != "messages-tuple"] == [
        "values",
        "values",
        "end",
    ]
    assert text_of(events) == TEXT
    assert events[0].data["messages"][0]["content"] == QUESTION
    state = events[-2].data
    assert state["title"] == QUESTION
    question, answer = state["messages"]
    assert (question["type"], answer["type"], answer["content"]) == ("human", "ai", TEXT)
    assert answer["additional_kwargs"]["citations"][0]["index"] == 1
    assert events[-1].data["usage"]["total_tokens"] == 12


def test_a_thread_goes_on_with_what_was_said_in_it(client: RagClient, live: Live) -> None:
    thread = list(client.stream(QUESTION))[-1].data["thread_id"]
    events = list(client.stream("Who built it?", thread_id=thread))
    assert events[-1].data["thread_id"] == thread
    said = [message["content"] for message in events[-2].data["messages"]]
    assert said == [QUESTION, TEXT, "Who built it?", TEXT]
    assert len(live.generator.requests[-1].messages) == 4


async def test_the_asynchronous_client_does_the_same(live: Live) -> None:
    async with AsyncRagClient(live.base_url, live.token) as client:
        events = [event async for event in client.stream(QUESTION)]
        answer = await client.ask(QUESTION)
    assert text_of(events) == answer.text == TEXT
    assert [source.index for source in answer.sources if source.index] == [1, 2, 3]


def test_frames_are_the_native_ones(client: RagClient) -> None:
    frames = list(client.frames(QUESTION, settings={"limit": 1}))
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    assert isinstance(frames[0], Status)
    assert isinstance(frames[-1], Done)
    assert frames[-1].answer == TEXT


def test_a_connection_that_is_cut_loses_and_repeats_nothing(
    client: RagClient, live: Live, relay: Relay
) -> None:
    gates = [live.gate(), live.gate()]
    live.say(ANSWER[0], gates[0], "very ", gates[1], ANSWER[1])
    with RagClient(f"http://127.0.0.1:{relay.port}", live.token) as cut:
        frames = cut.frames(QUESTION)
        read = read_to_text(frames)
        for gate in gates:
            relay.drop()
            gate.open()
            read += read_to_text(frames)
        read += frames
    assert "".join(each.text for each in read if isinstance(each, Token)) == (
        ANSWER[0] + "very " + ANSWER[1]
    )
    run = read[0].run
    assert run
    assert read == list(client.resume(run))


def test_an_event_stream_goes_on_after_a_cut_too(live: Live, relay: Relay) -> None:
    gate = live.gate()
    live.say(ANSWER[0], gate, ANSWER[1])
    asked = len(live.generator.requests)
    with RagClient(f"http://127.0.0.1:{relay.port}", live.token) as cut:
        read = []
        for event in cut.stream(QUESTION):
            read.append(event)
            if event.type == "messages-tuple" and len(read) == 2:
                relay.drop()
                gate.open()
    assert text_of(read) == TEXT
    assert read[-1].type == "end"
    assert len(live.generator.requests) == asked + 1


def test_leaving_a_stream_stops_its_answer(client: RagClient, live: Live) -> None:
    live.say(ANSWER[0], live.gate())
    events = client.stream(QUESTION)
    for event in events:
        if event.type == "messages-tuple":
            break
    events.close()  # type: ignore[attr-defined]
    run = Run.objects.order_by("-created_at").first()
    assert run
    assert run.state == RunState.CANCELLED


def test_leaving_frames_leaves_the_answer_to_its_grace(client: RagClient, live: Live) -> None:
    gate = live.gate()
    live.say(ANSWER[0], gate, ANSWER[1])
    frames = client.frames(QUESTION)
    read = read_to_text(frames)
    frames.close()  # type: ignore[attr-defined]
    run = read[0].run
    assert run
    rest = client.resume(run, after=read[-1].seq)
    gate.open()
    done = list(rest)[-1]
    assert isinstance(done, Done)
    assert done.answer == TEXT


def test_an_answer_can_be_stopped(client: RagClient, live: Live) -> None:
    live.say(ANSWER[0], live.gate())
    frames = client.frames(QUESTION)
    run = read_to_text(frames)[0].run
    assert run
    client.stop(run)
    done = list(frames)[-1]
    assert isinstance(done, Done)
    assert done.finish_reason == "cancelled"
    client.stop(run)


def test_an_answer_that_fails_has_an_error_and_an_end(client: RagClient, live: Live) -> None:
    live.say(ANSWER[0], BackendError("The model is away.", False, code="dropped"))
    events = list(client.stream(QUESTION))
    assert [event.type for event in events[-3:]] == ["values", "error", "end"]
    assert events[-2].data["message"] == "The model is away."
    with pytest.raises(AnswerFailedError, match=r"The model is away\.") as caught:
        client.ask(QUESTION)
    assert caught.value.text == ANSWER[0].rstrip()


@pytest.mark.parametrize("option", ["plan_mode", "subagent_enabled"])
def test_what_needs_an_agent_is_refused_before_anything_is_asked(
    client: RagClient, option: str
) -> None:
    runs = Run.objects.count()
    options: dict[str, Any] = {option: True}
    with pytest.raises(ValueError, match=option):
        client.stream(QUESTION, **options)
    with pytest.raises(NotAvailableError):
        client.stream(QUESTION, **options)
    with pytest.raises(BadRequestError):
        client.stream(QUESTION, recursion_limit=0)
    assert Run.objects.count() == runs


def test_refusals_are_one_family_of_exceptions(client: RagClient, live: Live) -> None:
    with pytest.raises(NotFoundError) as missing:
        list(client.stream(QUESTION, thread_id=uuid4()))
    assert (missing.value.status, missing.value.code) == (404, "not_found")
    with pytest.raises(BadRequestError, match="collection"):
        client.ask(QUESTION, collections=["Nothing"])
    with pytest.raises(NotAllowedError) as model:
        list(client.stream(QUESTION, model_name="dearest"))
    assert model.value.code == "model_not_allowed"
    with RagClient(live.base_url, "rs_wrong") as nobody, pytest.raises(NotSignedInError):
        list(nobody.stream(QUESTION))


def test_a_token_that_may_only_ask_has_no_history(live: Live) -> None:
    with RagClient(live.base_url, live.make_token(None, "ask")) as asker:
        state = list(asker.stream(QUESTION))[-2].data
    assert (state["title"], len(state["messages"])) == (None, 2)


def test_a_site_that_is_away_is_an_error(live: Live, relay: Relay) -> None:
    relay.cut()
    with (
        RagClient(f"http://127.0.0.1:{relay.port}", live.token) as away,
        pytest.raises(UnavailableError) as caught,
    ):
        list(away.stream(QUESTION))
    assert caught.value.code == "connection_lost"


async def test_a_task_that_is_cancelled_stops_its_answer(live: Live) -> None:
    gate = live.gate()
    live.say(ANSWER[0], gate)
    said = asyncio.Event()
    async with AsyncRagClient(live.base_url, live.token) as client:

        async def read() -> None:
            async for event in client.stream(QUESTION):
                if event.type == "messages-tuple":
                    said.set()

        task = asyncio.create_task(read())
        await said.wait()
        task.cancel()
        await asyncio.wait([task])
        gate.open()
    assert task.cancelled()
