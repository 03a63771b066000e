"""Runs: started, followed, stopped, left, and stored, whatever happens to their readers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone
from pytest_django import Settings

from chat import runs, runstate
from chat.active import RUNS
from chat.frames import Ask, Done, Error, Frame, Snapshot, WarningFrame
from chat.models import Assistant, Citation, Conversation, Message, Run, RunFrame, RunState
from retrieval import backends
from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.models import Chunk, EmbeddingSpace, SpaceState
from retrieval.search import SearchSettingsError
from tests.background import settled
from tests.fakes import ScriptedGenerator

QUESTION = "How high is the tower?"


@pytest.fixture(autouse=True)
async def _no_run_left(transactional_db: None) -> AsyncIterator[None]:
    """Fail a test that leaves a run behind, and end it."""
    yield
    left = list(RUNS.values())
    for active in left:
        active.cancel("stopped")
        await asyncio.wait([active.work])
    await settled()
    # The thread of asgiref that ran this test's queries keeps its connection otherwise.
    await sync_to_async(connections.close_all)()
    assert not left


def asking(text: str = QUESTION, **fields: Any) -> Ask:
    return Ask(type="ask", text=text, **fields)


async def read(user: User, run: Run, after: int = 0) -> list[Frame]:
    return [frame async for frame in runs.follow(user, run.id, after)]


def kinds(frames: list[Frame]) -> list[str]:
    """Return the frames' types, a status as its stage."""
    return [getattr(frame, "stage", frame.type) for frame in frames]


async def reload(run: Run) -> Run:
    return await Run.objects.select_related("answer", "question", "conversation").aget(id=run.id)


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


async def test_stop_closes_the_generators_stream_and_keeps_the_partial_answer(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Half [1]", " an", asyncio.Event()]
    run = await runs.start(user, asking())
    async with aclosing(runs.follow(user, run.id)) as reader:
        async for frame in reader:
            if frame.type == "citation":
                await runs.stop(user, run.id)
    assert generator.closed.is_set()
    assert isinstance(frame, Done)
    assert (frame.finish_reason, frame.answer) == ("cancelled", "Half [1] an")
    stored = await reload(run)
    assert (stored.state, stored.answer.text) == (RunState.CANCELLED, "Half [1] an")


async def test_stop_by_the_clients_own_id(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = [asyncio.Event()]
    run = await runs.start(user, asking(id="mine"))
    assert await runs.stop(user, ask="mine") == run
    assert (await reload(run)).state == RunState.CANCELLED


async def test_stopping_what_has_ended_is_a_success(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Done."]
    run = await runs.start(user, asking())
    await read(user, run)
    assert await runs.stop(user, run.id) == run
    assert (await reload(run)).state == RunState.COMPLETED


async def test_another_process_can_stop_a_run(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Half", asyncio.Event()]
    run = await runs.start(user, asking())
    await Run.objects.filter(id=run.id).aupdate(stop_requested_at=timezone.now())
    frames = await read(user, run)
    assert isinstance(frames[-1], Done)
    assert frames[-1].finish_reason == "cancelled"


async def test_a_run_whose_conversation_is_deleted_ends(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    """Nobody can read it any more, so the provider's stream is closed."""
    generator.script = ["It is ", asyncio.Event()]
    run = await runs.start(user, asking())
    active = RUNS[run.id]
    async with aclosing(runs.follow(user, run.id)) as reader:
        async for frame in reader:
            if frame.type == "token":
                await Conversation.objects.all().adelete()
        assert isinstance(frame, Done)
    await asyncio.wait([active.work])
    assert generator.closed.is_set()
    assert run.id not in RUNS


async def test_a_run_that_nobody_reads_any_more_is_cancelled(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.RUN_GRACE_SECONDS = 0
    generator.script = ["Half", asyncio.Event()]
    run = await runs.start(user, asking())
    active = RUNS[run.id]
    async with aclosing(runs.follow(user, run.id)) as reader:
        async for frame in reader:
            if frame.type == "token":
                break
    await asyncio.wait([active.work])
    assert generator.closed.is_set()
    assert (await reload(run)).state == RunState.CANCELLED


async def test_a_run_goes_on_while_one_of_two_readers_stays(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    go_on = asyncio.Event()
    generator.script = ["Half", go_on, " and half."]
    run = await runs.start(user, asking())
    first, second = runs.follow(user, run.id), runs.follow(user, run.id)
    await anext(first)
    await anext(second)
    settings.RUN_GRACE_SECONDS = 0
    await first.aclose()
    go_on.set()
    async with aclosing(second) as reader:
        last = [frame async for frame in reader][-1]
    assert isinstance(last, Done)
    assert last.answer == "Half and half."


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


async def test_a_provider_that_fails_leaves_an_error_and_the_partial_answer(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Half", BackendError("It broke off.", True, code="dropped")]
    run = await runs.start(user, asking())
    error = (await read(user, run))[-1]
    assert isinstance(error, Error)
    assert (error.code, error.message, error.recoverable) == ("dropped", "It broke off.", True)
    stored = await reload(run)
    assert (stored.state, stored.error_code, stored.answer.text) == ("failed", "dropped", "Half")


async def test_settings_that_cannot_be_searched_by_are_told(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    field = "chunk_settings.index_measure"
    generator.script = [SearchSettingsError(field, "there is no index")]
    run = await runs.start(user, asking())
    error = (await read(user, run))[-1]
    assert isinstance(error, Error)
    assert (error.code, error.recoverable) == ("bad_settings", False)
    assert error.message == f"{field}: there is no index"


async def test_a_fault_of_ours_does_not_show_its_text(
    user: User, tower: Chunk, generator: ScriptedGenerator, caplog: pytest.LogCaptureFixture
) -> None:
    generator.script = ["Half", RuntimeError("secret detail")]
    run = await runs.start(user, asking())
    error = (await read(user, run))[-1]
    assert isinstance(error, Error)
    assert error.code == "internal"
    assert "secret" not in error.to_json()
    assert str(run.id) in caplog.text


async def test_an_empty_answer_is_an_error(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = [" \n"]
    error = (await read(user, await runs.start(user, asking())))[-1]
    assert isinstance(error, Error)
    assert error.code == "empty"


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


async def test_a_run_whose_process_is_gone_is_interrupted_for_its_readers(user: User) -> None:
    run = await in_thread(stored_run, user, "half an ans")
    frames = await read(user, run, after=7)
    assert kinds(frames) == ["snapshot", "error"]
    assert getattr(frames[0], "text", None) == "half an ans"
    assert (await reload(run)).state == RunState.INTERRUPTED


async def test_an_interrupted_run_does_not_block_its_conversation(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Again."]
    old = await in_thread(stored_run, user, "half")
    run = await runs.start(user, asking(conversation=old.conversation_id))
    assert isinstance((await read(user, run))[-1], Done)


def stored_run(user: User, text: str) -> Run:
    """Store a run that another process worked on until it died."""
    from chat.models import Conversation, Role  # noqa: PLC0415

    conversation = Conversation.objects.create(user=user, title="Old")
    run = Run.objects.create(
        conversation=conversation,
        user=user,
        question=Message.objects.create(conversation=conversation, role=Role.USER, text="?"),
        answer=Message.objects.create(conversation=conversation, role=Role.ASSISTANT, text=text),
        state=RunState.RUNNING,
        owner="gone",
        lease_expires_at=timezone.now() - timedelta(seconds=1),
    )
    RunFrame.objects.create(
        run=run, seq=1, payload={"type": "token", "text": text, "run": str(run.id), "seq": 1}
    )
    return run


@pytest.mark.parametrize(
    ("role", "backend", "code"),
    [
        ("embedder", "tests.fakes.FailingEmbedder", "search_degraded"),
        ("reranker", "tests.fakes.FailingReranker", "rerank_failed"),
    ],
)
async def test_a_stage_that_can_be_done_without_is_a_warning(  # noqa: PLR0917
    user: User,
    tower: Chunk,
    generator: ScriptedGenerator,
    settings: Settings,
    role: str,
    backend: str,
    code: str,
) -> None:
    await EmbeddingSpace.objects.acreate(model="hash", dimensions=256, state=SpaceState.ACTIVE)
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {role: {"BACKEND": backend}}
    scripted = backends.generator()
    assert isinstance(scripted, ScriptedGenerator)
    scripted.script = ["It is 96 m high [1]."]
    frames = await read(user, await runs.start(user, asking()))
    warnings = [frame for frame in frames if isinstance(frame, WarningFrame)]
    assert [warning.code for warning in warnings] == [code]
    assert "secret" not in warnings[0].message
    assert isinstance(frames[-1], Done)


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
