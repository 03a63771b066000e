"""Runs that are stopped, by people or because nobody reads them any more."""

import asyncio
from contextlib import aclosing

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from chat import runs
from chat.active import RUNS
from chat.frames import Done
from chat.models import Conversation, Run, RunState
from retrieval.models import Chunk
from tests.chat.running import asking, read, reload
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.usefixtures("no_run_left")


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
