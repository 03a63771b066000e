"""Draining: no new runs, time for those there are, and nothing lost of the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.test import AsyncClient

from chat import runs
from chat.client_messages import Ask
from chat.frames import Done, Error, Frame, Token
from chat.models import Conversation, Run, RunState
from retrieval.models import Chunk
from tests.background import settled
from tests.fakes import ScriptedGenerator

ASK = Ask(type="ask", text="How high is the tower?")


@pytest.fixture(autouse=True)
async def _afterwards(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    """Drain this test only."""
    monkeypatch.setattr(runs, "_draining", asyncio.Event())
    yield
    await settled()
    await sync_to_async(connections.close_all)()


async def read(user: User, run: Run) -> list[Frame]:
    return [frame async for frame in runs.follow(user, run.id)]


async def read_to_first_token(user: User, run: Run) -> None:
    async for frame in runs.follow(user, run.id):
        if isinstance(frame, Token):
            return


async def test_a_question_is_refused_with_a_hint_to_try_again_and_not_stored(user: User) -> None:
    await runs.drain(0)
    with pytest.raises(runs.RunRefused) as refused:
        await runs.start(user, ASK)
    assert (refused.value.code, refused.value.recoverable) == ("draining", True)
    assert not await Conversation.objects.aexists()


async def test_a_run_that_ends_in_time_is_whole(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    gate = asyncio.Event()
    generator.script = ["96 ", gate, "metres."]
    run = await runs.start(user, ASK)
    reader = asyncio.create_task(read(user, run))
    await read_to_first_token(user, run)
    draining = asyncio.create_task(runs.drain(10))
    await asyncio.sleep(0)
    assert runs.is_draining()
    assert not draining.done()
    gate.set()
    await draining
    last = (await reader)[-1]
    assert isinstance(last, Done)
    assert last.answer == "96 metres."


async def test_a_run_that_takes_too_long_is_interrupted_and_keeps_what_was_streamed(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96", asyncio.Event()]
    run = await runs.start(user, ASK)
    reader = asyncio.create_task(read(user, run))
    await read_to_first_token(user, run)
    await runs.drain(0)
    assert generator.closed.is_set()
    last = (await reader)[-1]
    assert isinstance(last, Error)
    assert (last.code, last.recoverable) == ("interrupted", True)
    stored = await Run.objects.select_related("answer").aget()
    assert (stored.state, stored.answer.text) == (RunState.INTERRUPTED, "It is 96")


async def test_a_run_that_has_only_just_begun_is_interrupted_too(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = [asyncio.Event()]
    await runs.start(user, ASK)
    await asyncio.wait_for(runs.drain(0), 10)
    assert (await Run.objects.aget()).state == RunState.INTERRUPTED


async def test_the_site_is_not_healthy_while_it_drains(transactional_db: None) -> None:
    await runs.drain(0)
    response = await AsyncClient().get("/healthz")
    assert (response.status_code, response.content) == (503, b"draining\n")
