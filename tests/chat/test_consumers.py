"""The socket: exact frame sequences, tabs, stop and leaving."""

import asyncio
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.contrib.auth.models import User
from prometheus_client import REGISTRY
from pytest_django import Settings

from chat import consumers
from chat.models import Run, RunState
from retrieval.connections import connections as loop_connections
from retrieval.models import Chunk
from tests.background import settled
from tests.fakes import ScriptedGenerator
from tests.sockets import QUESTION, Page, frame, frames_until


async def test_a_question_is_answered_in_frames(
    tower: Chunk, generator: ScriptedGenerator, tab: Page
) -> None:
    generator.script = ["It is 96 m high [1]."]
    await tab.send_json_to(QUESTION)
    received = await frames_until(tab, "done", "error")
    assert [each.get("stage", each["type"]) for each in received] == [
        "queued", "searching", "reranking", "search_results", "generating",
        "token", "token", "citation", "token", "grounding", "done",
    ]  # fmt: skip
    assert [each["seq"] for each in received] == list(range(1, 12))
    assert received[0]["ask"] == "q1"
    answer = received[-1]["answer"]
    assert "".join(each["text"] for each in received if each["type"] == "token") == answer
    start, end = received[7]["span"]
    assert answer[start:end] == "[1]"


async def test_a_ping_is_answered(tab: Page) -> None:
    await tab.send_json_to({"type": "ping"})
    assert await frame(tab) == {"type": "pong", "run": None, "seq": 0}


async def test_stop_is_heard_while_the_answer_streams(
    tower: Chunk, generator: ScriptedGenerator, tab: Page
) -> None:
    generator.script = ["Half", asyncio.Event()]
    await tab.send_json_to(QUESTION)
    await frames_until(tab, "token")
    await tab.send_json_to({"type": "stop"})
    last = (await frames_until(tab, "done"))[-1]
    assert (last["finish_reason"], last["answer"]) == ("cancelled", "Half")
    assert generator.closed.is_set()


async def test_a_second_tab_follows_and_stops_the_same_run(
    user: User, tower: Chunk, generator: ScriptedGenerator, visit: Any
) -> None:
    generator.script = ["Half", asyncio.Event()]
    first, second = await visit(user), await visit(user)
    await first.connect()
    await second.connect()
    await first.send_json_to(QUESTION)
    begun = await frames_until(first, "token")
    await second.send_json_to({"type": "watch", "conversation": begun[0]["conversation"]})
    replayed = await frames_until(second, "token")
    assert replayed == begun
    await second.send_json_to({"type": "stop", "run": begun[0]["run"]})
    assert await frame(first) == await frame(second)


async def test_a_tab_that_watches_sees_a_question_asked_in_another(
    user: User, tower: Chunk, generator: ScriptedGenerator, visit: Any
) -> None:
    generator.script = ["One."]
    first, second = await visit(user), await visit(user)
    await first.connect()
    await second.connect()
    await first.send_json_to(QUESTION)
    conversation = (await frames_until(first, "done"))[0]["conversation"]
    await second.send_json_to({"type": "watch", "conversation": conversation})
    await second.send_json_to({"type": "stop"})  # handled after watch: its error says so
    assert (await frame(second))["code"] == "not_found"
    await first.send_json_to(QUESTION | {"id": "q2", "conversation": conversation})
    assert await frames_until(second, "done") == await frames_until(first, "done")


async def test_a_question_that_comes_while_a_tab_begins_to_watch_is_seen_there(
    user: User, tower: Chunk, generator: ScriptedGenerator, visit: Any, monkeypatch: Any
) -> None:
    generator.script = ["One."]
    first, second = await visit(user), await visit(user)
    await first.connect()
    await second.connect()
    await first.send_json_to(QUESTION)
    conversation = (await frames_until(first, "done"))[0]["conversation"]
    look = consumers.runs.active_in
    looked = asyncio.Event()
    seen: list[Any] = []

    async def look_then_ask(user: User, conversation: Any) -> Any:
        found = await look(user, conversation)
        if not looked.is_set():
            looked.set()
            await first.send_json_to(QUESTION | {"id": "q2", "conversation": str(conversation)})
            seen.extend(await frames_until(first, "status"))
        return found

    monkeypatch.setattr(consumers.runs, "active_in", look_then_ask)
    await second.send_json_to({"type": "watch", "conversation": conversation})
    received = await frames_until(second, "done")
    assert received[0] == seen[0]


async def test_resume_sends_only_what_was_missed(
    user: User, tower: Chunk, generator: ScriptedGenerator, tab: Page, visit: Any
) -> None:
    generator.script = ["One. ", "Two."]
    await tab.send_json_to(QUESTION)
    received = await frames_until(tab, "done")
    again = await visit(user)
    await again.connect()
    await again.send_json_to({"type": "resume", "run": received[0]["run"], "after": 5})
    assert await frames_until(again, "done") == received[5:]


async def test_leaving_for_good_closes_the_generators_stream(
    tower: Chunk, generator: ScriptedGenerator, tab: Page, settings: Settings
) -> None:
    settings.RUN_GRACE_SECONDS = 0
    generator.script = ["Half", asyncio.Event()]
    await tab.send_json_to(QUESTION)
    await frames_until(tab, "token")
    await tab.disconnect()
    async with asyncio.timeout(5):
        await generator.closed.wait()
        await settled()
    assert (await Run.objects.aget()).state == RunState.CANCELLED


async def test_what_is_typed_is_looked_for_ahead_and_only_the_newest(
    tower: Chunk, generator: ScriptedGenerator, tab: Page
) -> None:
    generator.script = ["96 m."]
    for text in ("How high is", "How high is the tower?"):
        await tab.send_json_to({"type": "prefetch", "text": text})
    await tab.send_json_to(QUESTION)
    received = await frames_until(tab, "done", "error")
    assert [each.get("stage", each["type"]) for each in received] == [
        "queued", "search_results", "generating", "token", "grounding", "done",
    ]  # fmt: skip


async def test_a_prefetch_of_what_may_not_be_asked_is_passed_over(
    generator: ScriptedGenerator, tab: Page
) -> None:
    await tab.send_json_to({"type": "prefetch", "text": "Hello?", "conversation": str(uuid4())})
    await tab.send_json_to(QUESTION)
    assert (await frame(tab))["stage"] == "queued"


async def test_a_reader_that_takes_nothing_in_is_held_back_until_it_acknowledges(
    user: User,
    tower: Chunk,
    generator: ScriptedGenerator,
    visit: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chat.window.MOST_BYTES_UNKNOWN", 10_000)
    monkeypatch.setattr("chat.window.MOST_BYTES", 10_000)
    generator.script = ["One. ", *(f"{'word ' * 1500}." for _ in range(4))]
    tab = await visit(user)
    await tab.connect()
    await tab.send_json_to(QUESTION)
    held = await frames_until(tab, "token")
    while "word" not in held[-1].get("text", ""):
        held.append(await frame(tab))
    while not await tab.receive_nothing(timeout=0.2):
        held.append(await frame(tab))
    assert held[-1]["type"] == "token"
    await settled()  # the run itself was not held back
    await tab.send_json_to({"type": "ack", "run": held[0]["run"], "seq": held[-1]["seq"]})
    rest = [await frame(tab)]
    while rest[-1]["type"] != "done":
        await tab.send_json_to({"type": "ack", "run": held[0]["run"], "seq": rest[-1]["seq"]})
        rest.append(await frame(tab))
    seqs = [each["seq"] for each in (*held, *rest)]
    assert seqs == list(range(1, len(seqs) + 1))


async def test_readers_those_that_came_back_and_refusals_are_counted(
    user: User, tower: Chunk, generator: ScriptedGenerator, tab: Page, visit: Any
) -> None:
    def count(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(f"ragsite_{name}", labels) or 0

    resumes, refusals = count("resumes_total"), count("refusals_total", code="bad_json")
    generator.script = ["Half", asyncio.Event()]
    await tab.send_json_to(QUESTION)
    run = (await frames_until(tab, "token"))[0]["run"]
    again = await visit(user)
    await again.connect()
    await again.send_json_to({"type": "resume", "run": run})
    await frames_until(again, "token")
    assert count("subscribers") == 2
    assert count("resumes_total") - resumes == 1
    await again.send_to(text_data="no json")
    await frames_until(again, "error")
    assert count("refusals_total", code="bad_json") - refusals == 1
    await again.send_json_to({"type": "stop", "run": run})
    await frames_until(again, "done")
    await frames_until(tab, "done")
    await again.disconnect()
    assert count("subscribers") == 0


async def test_what_is_sent_while_the_database_is_away_gets_an_error_frame(
    tower: Chunk, generator: ScriptedGenerator, tab: Page
) -> None:
    """The socket stays open, and the same question can be asked again."""
    generator.script = ["96 m."]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retrieval.connections.connect", away)
        await loop_connections.aclose()
        await tab.send_json_to(QUESTION)
        refused = await frame(tab)
    assert (refused["type"], refused["code"], refused["recoverable"]) == (
        "error", "unavailable", True,
    )  # fmt: skip
    assert refused["ask"] == QUESTION["id"]
    await tab.send_json_to(QUESTION)
    assert (await frames_until(tab, "done", "error"))[-1]["type"] == "done"


async def away() -> None:
    raise psycopg.OperationalError("made up: secret detail")
