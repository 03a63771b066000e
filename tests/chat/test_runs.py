"""Runs: started, followed, read again and stored, whatever happens to their readers."""

import asyncio
from contextlib import aclosing
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat import runs, runstate
from chat.frames import Done, Snapshot
from chat.models import Assistant, Citation, Message, Run, RunState
from retrieval.database import in_thread
from retrieval.models import Chunk
from tests.chat.running import QUESTION, asking, kinds, read, reload
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.usefixtures("no_run_left")


async def test_a_run_goes_from_question_to_done(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 m high [", "1", "]."]
    frames = await read(user, await runs.start(user, asking()))
    assert kinds(frames) == [
        "queued", "searching", "reranking", "search_results", "generating",
        "token", "token", "citation", "token", "grounding", "done",
    ]  # fmt: skip
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))


async def test_the_stored_answer_is_the_streamed_one(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 m high [1]."]
    frames = await read(user, await runs.start(user, asking()))
    done = frames[-1]
    assert isinstance(done, Done)
    stored = await reload(await Run.objects.aget())
    assert stored.answer.text == done.answer == "It is 96 m high [1]."
    assert (stored.state, stored.finish_reason) == (RunState.COMPLETED, "stop")
    citation = await Citation.objects.aget()
    assert (citation.message_id, citation.chunk_id, citation.page) == (
        done.message_id, tower.id, 3,
    )  # fmt: skip
    assert citation.quote == "The tower of Lund is 96 metres high."
    assert stored.answer.text[citation.span_start : citation.span_end] == "[1]"


async def test_frames_can_be_read_again_after_the_end(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["One. ", "Two [1]."]
    run = await runs.start(user, asking())
    live = await read(user, run)
    assert await read(user, run) == live
    assert await read(user, run, after=4) == live[4:]


async def test_a_reader_that_comes_back_gets_what_it_missed_and_then_what_comes(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    go_on = asyncio.Event()
    generator.script = ["First. ", go_on, "Second."]
    run = await runs.start(user, asking())
    async with aclosing(runs.follow(user, run.id)) as reader:
        async for frame in reader:
            if frame.type == "token":
                break
    go_on.set()
    rest = await read(user, run, after=frame.seq)
    assert [getattr(each, "text", each.type) for each in rest] == [" Second.", "grounding", "done"]


async def test_the_same_ask_id_asks_once(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Once."]
    ask = asking(id="double-click")
    first, second = await asyncio.gather(runs.start(user, ask), runs.start(user, ask))
    await read(user, first)
    assert first.id == second.id
    assert await Message.objects.acount() == 2
    assert len(generator.requests) == 1


async def test_a_conversation_answers_one_question_at_a_time(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = [asyncio.Event()]
    run = await runs.start(user, asking())
    with pytest.raises(runs.RunRefused) as refused:
        await runs.start(user, asking("And how old?", conversation=run.conversation_id))
    await runs.stop(user, run.id)
    assert (refused.value.code, refused.value.recoverable) == ("busy", True)
    assert await Message.objects.acount() == 2


async def test_a_follow_up_carries_the_conversation(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m [1]."]
    first = await runs.start(user, asking())
    await read(user, first)
    await read(
        user,
        await runs.start(user, asking("Who built the tower?", conversation=first.conversation_id)),
    )
    contents = [message.content for message in generator.requests[-1].messages]
    assert contents[1:3] == [QUESTION, "96 m ."]


@pytest.mark.parametrize("fields", [{"conversation": uuid4()}, {"assistant": "Nobody"}])
async def test_what_is_not_there_is_refused_and_nothing_is_stored(
    user: User, generator: ScriptedGenerator, fields: dict[str, Any]
) -> None:
    with pytest.raises(runs.RunRefused):
        await runs.start(user, asking(**fields))
    assert await Message.objects.acount() == 0


async def test_another_persons_conversation_and_run_are_not_there(
    user: User, other: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Mine."]
    run = await runs.start(user, asking())
    await read(user, run)
    with pytest.raises(runs.RunRefused):
        await runs.start(other, asking(conversation=run.conversation_id))
    with pytest.raises(runs.RunRefused):
        await read(other, run)
    assert await runs.stop(other, run.id) is None


async def test_nothing_found_is_no_answer_and_no_generator_is_called(
    user: User, generator: ScriptedGenerator
) -> None:
    frames = await read(user, await runs.start(user, asking()))
    done = frames[-1]
    assert isinstance(done, Done)
    assert done.finish_reason == "no_answer"
    assert done.answer == "The documents do not answer this."
    assert generator.requests == []


async def test_a_model_that_finds_no_answer_is_put_into_words(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["NOT_IN_", "DOCUMENTS"]
    frames = await read(user, await runs.start(user, asking()))
    done = frames[-1]
    assert isinstance(done, Done)
    assert done.answer == "The documents do not answer this."


async def test_text_that_postgresql_cannot_store_is_left_out(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["a\0b\ud800c"]
    done = (await read(user, await runs.start(user, asking("How high\0 is the tower?"))))[-1]
    assert isinstance(done, Done)
    assert done.answer == "abc"


async def test_long_after_the_end_a_reader_gets_a_snapshot(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 m high [1]."]
    run = await runs.start(user, asking())
    live = await read(user, run)
    await Run.objects.aupdate(finished_at=timezone.now() - timedelta(hours=2))
    assert await in_thread(runstate.forget_frames) == len(live)
    snapshot, done = await read(user, run)
    assert isinstance(snapshot, Snapshot)
    assert isinstance(done, Done)
    assert snapshot.text == done.answer == "It is 96 m high [1]."
    assert [citation.span for citation in snapshot.citations] == [(16, 19)]
    assert snapshot.seq < done.seq


async def test_a_model_that_the_assistant_does_not_offer_is_refused(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    with pytest.raises(runs.RunRefused) as refused:
        await runs.start(user, asking(model="expensive"))
    assert refused.value.code == "model_not_allowed"
    assert await Message.objects.acount() == 0


async def test_a_run_remembers_the_version_that_answered(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m."]
    assistant = await Assistant.objects.acreate(name="A", model="cheap")
    version = await in_thread(assistant.record_version)
    run = await runs.start(user, asking())
    await read(user, run)
    assistant.model = "expensive"
    await assistant.asave()
    await in_thread(assistant.record_version)
    stored = await reload(run)
    assert (stored.assistant_version_id, stored.model) == (version.pk, "cheap")


async def test_a_model_that_the_assistant_offers_is_used(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m."]
    await Assistant.objects.acreate(name="A", model="cheap", allowed_models=["expensive"])
    run = await runs.start(user, asking(model="expensive"))
    await read(user, run)
    assert generator.requests[0].model == (await reload(run)).model == "expensive"


async def test_a_reader_that_has_everything_gets_the_end_again(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m."]
    run = await runs.start(user, asking())
    live = await read(user, run)
    assert await read(user, run, after=len(live)) == live[-1:]
