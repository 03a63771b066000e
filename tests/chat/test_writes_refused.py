"""PostgreSQL takes no more writes in the middle of an answer: a full disk, a read-only server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection, connections
from django.utils import timezone
from pytest_django import Settings

from chat import runs, runstate
from chat.client_messages import Ask
from chat.frames import Done, Frame, Token
from chat.models import ACTIVE, Conversation, Message, Role, Run, RunFrame, RunState
from retrieval.database import in_thread
from retrieval.models import Chunk
from tests.background import settled
from tests.fakes import ScriptedGenerator
from tests.sockets import QUESTION, frames_until

TABLES = ("run", "runframe", "message", "citation", "candidate", "conversation")
# What a full disk and a read-only server say, said by a trigger.
FULL = """
CREATE FUNCTION refuse_writing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'could not extend file: secret detail' USING ERRCODE = '{code}';
END $$;
"""
TRIGGER = """
CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON chat_{table}
FOR EACH ROW EXECUTE FUNCTION refuse_writing();
"""
FREE = "DROP FUNCTION IF EXISTS refuse_writing() CASCADE"
SECONDS = 20.0


class Disk:
    """The disk of the test's database, as far as conversations are concerned."""

    def __init__(self, code: str) -> None:
        self.code = code

    async def fill(self) -> None:
        """Have PostgreSQL refuse what it refuses when its disk is full."""
        full = FULL.format(code=self.code)
        await self.execute(full + "".join(TRIGGER.format(table=table) for table in TABLES))

    async def free(self) -> None:
        """Let it write again."""
        await self.execute(FREE)

    async def execute(self, statements: str) -> None:
        known = {**connection.get_connection_params(), "autocommit": True}
        known = {name: value for name, value in known.items() if name in CONNECT}
        async with await psycopg.AsyncConnection.connect(**known) as session:
            await session.execute(statements)


CONNECT = ("host", "port", "user", "password", "dbname", "autocommit")


@pytest.fixture(params=["disk_full", "read_only_sql_transaction"])
async def disk(transactional_db: None, request: pytest.FixtureRequest) -> AsyncIterator[Disk]:
    disk = Disk(request.param)
    yield disk
    await disk.free()


async def stored(until: Callable[[Run], bool]) -> Run:
    """Return the run with its answer as soon as what is stored is so."""
    async with asyncio.timeout(SECONDS):
        while True:
            run = await Run.objects.select_related("answer").alatest("created_at")
            if until(run):
                return run
            await asyncio.sleep(0.05)


async def ended(run: Run) -> Run:
    return await stored(lambda found: found.id == run.id and found.state not in ACTIVE)


class Reader:
    """Somebody who reads a run."""

    def __init__(self, user: User, run: Run) -> None:
        self.frames: list[Frame] = []
        self.task = asyncio.create_task(self.read(user, run))

    async def read(self, user: User, run: Run) -> None:
        async for frame in runs.follow(user, run.id):
            self.frames.append(frame)

    async def whole(self) -> list[Frame]:
        """Return all frames, up to the end."""
        await asyncio.wait_for(self.task, SECONDS)
        return self.frames

    @property
    def text(self) -> str:
        return "".join(frame.text for frame in self.frames if frame.type == "token")


@pytest.fixture
async def half(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> AsyncIterator[tuple[Run, Reader, asyncio.Event]]:
    """Return a run whose first sentence is stored, its reader, and what lets it go on."""
    go_on = asyncio.Event()
    generator.script = ["It is 96 m high [1]. ", go_on, "Anna Berg built it [1]. ", "Long ago."]
    run = await runs.start(user, Ask(type="ask", text=QUESTION["text"], id="q1"))
    reader = Reader(user, run)
    await stored(lambda found: found.answer.text.count("[1]") == 1)
    yield run, reader, go_on
    go_on.set()
    await asyncio.gather(*works())
    # The thread of asgiref that ran this test's queries keeps its connection otherwise.
    await settled()
    await sync_to_async(connections.close_all)()


def works() -> list[asyncio.Task[None]]:
    """Return the tasks that answer runs and save them."""
    return [each for each in asyncio.all_tasks() if each.get_name().startswith(("run ", "save "))]


TEXT = "It is 96 m high [1]. Anna Berg built it [1]. Long ago."


async def test_who_reads_gets_the_answer_to_its_end(
    half: tuple[Run, Reader, asyncio.Event], disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    run, reader, go_on = half
    await disk.fill()
    with caplog.at_level(logging.WARNING):
        go_on.set()
        frames = await reader.whole()
    assert isinstance(frames[-1], Done)
    assert frames[-1].answer == reader.text == TEXT
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    assert any(str(run.id) in message for message in caplog.messages)
    await disk.free()


async def test_what_was_written_meanwhile_is_stored_when_there_is_room_again(
    half: tuple[Run, Reader, asyncio.Event], disk: Disk
) -> None:
    run, reader, go_on = half
    await disk.fill()
    go_on.set()
    await reader.whole()
    await disk.free()
    run = await ended(run)
    assert (run.state, run.finish_reason, run.answer.text) == (RunState.COMPLETED, "stop", TEXT)
    assert await run.answer.citations.acount() == 2
    numbers = [frame.seq async for frame in run.frames.order_by("seq")]
    assert numbers == list(range(1, len(reader.frames) + 1))


async def test_it_is_no_other_when_that_takes_longer_than_a_lease(
    half: tuple[Run, Reader, asyncio.Event], disk: Disk, settings: Settings, user: User
) -> None:
    settings.RUN_LEASE_SECONDS = 0.5
    run, reader, go_on = half
    # The lease that was taken when it began is longer.
    await in_thread(runstate.renew_leases, run.owner, [run.id])
    await disk.fill()
    go_on.set()
    await reader.whole()
    await stored(lambda found: found.lease_expires_at < timezone.now())
    await disk.free()
    # Another process's reader may come first: it is not interrupted for good.
    await in_thread(runstate.interrupt_expired)
    run = await stored(lambda found: found.state == RunState.COMPLETED)
    assert (run.answer.text, run.error_code) == (TEXT, "")


async def test_an_answer_that_is_stopped_meanwhile_ends_and_is_stored_when_there_is_room_again(
    half: tuple[Run, Reader, asyncio.Event], disk: Disk, user: User, generator: ScriptedGenerator
) -> None:
    run, reader, go_on = half
    await disk.fill()
    go_on.clear()
    async with asyncio.timeout(SECONDS):
        await runs.stop(user, run.id)
        await generator.closed.wait()
    assert (await reader.whole())[-1].type == "done"
    await disk.free()
    assert (await ended(run)).state == RunState.CANCELLED


async def test_its_conversation_takes_the_next_question_when_there_is_room_again(
    half: tuple[Run, Reader, asyncio.Event], disk: Disk, user: User, generator: ScriptedGenerator
) -> None:
    run, reader, go_on = half
    await disk.fill()
    go_on.set()
    await reader.whole()
    await disk.free()
    generator.script = ["Yes."]
    again = Ask(type="ask", text="Really?", conversation=run.conversation_id)
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                second = await runs.start(user, again)
                break
            except runs.RunRefused as refused:
                assert refused.code == "busy"
                await asyncio.sleep(0.05)
    assert (await Reader(user, second).whole())[-1].type == "done"


async def test_who_reads_what_another_process_writes_waits_until_there_is_room_again(
    user: User, disk: Disk
) -> None:
    run = await run_of_another_process(user)
    await RunFrame.objects.acreate(
        run=run, seq=1, payload=Token(text="Half ").numbered(run.id, 1).model_dump(mode="json")
    )
    reader = Reader(user, run)
    await disk.fill()
    done, _ = await asyncio.wait({reader.task}, timeout=1)
    assert not done
    await disk.free()
    ending = Done(finish_reason="stop", answer="Half ", citations=[]).numbered(run.id, 2)
    await RunFrame.objects.acreate(run=run, seq=2, payload=ending.model_dump(mode="json"))
    assert (await reader.whole())[-1] == ending
    await settled()
    await sync_to_async(connections.close_all)()


async def run_of_another_process(user: User) -> Run:
    """Return a run that a process works on which is not this one."""
    conversation = await Conversation.objects.acreate(user=user, title="Towers")
    ask = Message(conversation=conversation, role=Role.USER, text="How high?")
    answer = Message(conversation=conversation, role=Role.ASSISTANT)
    await Message.objects.abulk_create([ask, answer])
    return await Run.objects.acreate(
        conversation=conversation,
        user=user,
        question=ask,
        answer=answer,
        state=RunState.RUNNING,
        owner="elsewhere",
        lease_expires_at=timezone.now() + timedelta(hours=1),
    )


async def test_a_question_is_refused_by_an_error_that_says_nothing_of_the_disk(
    user: User, tower: Chunk, generator: ScriptedGenerator, visit: Any, disk: Disk
) -> None:
    generator.script = ["Yes."]
    page = await visit(user)
    await page.connect()
    await disk.fill()
    await page.send_json_to(QUESTION)
    [error] = await frames_until(page, "error")
    assert (error["run"], error["ask"], error["recoverable"]) == (None, "q1", True)
    assert "secret" not in str(error)
    await disk.free()
    await page.send_json_to(QUESTION)
    assert (await frames_until(page, "done", "error"))[-1]["answer"] == "Yes."
