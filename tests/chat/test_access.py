"""Rights that are taken away, while sockets are open and answers are written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db import transaction

from chat.models import Assistant, Run, RunState
from retrieval.models import Chunk, Collection, Visibility
from tests.fakes import ScriptedGenerator
from tests.sockets import CLOSED, QUESTION, Page, frame, frames_until


@pytest.fixture
def towers(tower: Chunk, user: User) -> Collection:
    """Let the tower's collection be read by one person, and by a group they are in."""
    collection = Collection.objects.get()
    collection.visibility = Visibility.RESTRICTED
    collection.save()
    return collection


async def ask(visit: Any, user: User, generator: ScriptedGenerator) -> Page:
    """Ask a question whose answer does not end, and wait for its first word."""
    generator.script = ["Half [1]", " and more", asyncio.Event()]
    page: Page = await visit(user)
    await page.connect()
    await page.send_json_to(QUESTION)
    await frames_until(page, "token")
    return page


async def assert_ended(page: Page, generator: ScriptedGenerator) -> None:
    """The answer ended because of what was taken away, and its provider's stream is closed."""
    last = (await frames_until(page, "error", "done"))[-1]
    assert (last["type"], last.get("code")) == ("error", "access_lost")
    assert not last["recoverable"]
    assert generator.closed.is_set()
    run = await Run.objects.aget()
    assert (run.state, run.error_code) == (RunState.FAILED, "access_lost")


async def test_a_reader_who_is_taken_off_the_list_gets_no_more_of_the_answer(
    user: User, towers: Collection, generator: ScriptedGenerator, visit: Any
) -> None:
    await sync_to_async(towers.readers.add)(user)
    page = await ask(visit, user, generator)
    await sync_to_async(towers.readers.remove)(user)
    await assert_ended(page, generator)


async def test_leaving_a_group_that_may_read_ends_the_answer(
    user: User, towers: Collection, generator: ScriptedGenerator, visit: Any
) -> None:
    group = await Group.objects.acreate(name="Builders")
    await sync_to_async(user.groups.add)(group)
    await sync_to_async(towers.reader_groups.add)(group)
    page = await ask(visit, user, generator)
    await sync_to_async(group.user_set.remove)(user)
    await assert_ended(page, generator)


async def test_deleting_the_group_ends_the_answer(
    user: User, towers: Collection, generator: ScriptedGenerator, visit: Any
) -> None:
    group = await Group.objects.acreate(name="Builders")
    await sync_to_async(user.groups.add)(group)
    await sync_to_async(towers.reader_groups.add)(group)
    page = await ask(visit, user, generator)
    await group.adelete()
    await assert_ended(page, generator)


async def test_closing_a_collection_ends_the_answers_drawn_from_it(
    user: User, tower: Chunk, generator: ScriptedGenerator, visit: Any
) -> None:
    page = await ask(visit, user, generator)
    collection = await Collection.objects.aget()
    collection.visibility = Visibility.RESTRICTED
    await collection.asave()
    await assert_ended(page, generator)


async def test_losing_the_assistant_ends_its_answer(
    user: User, tower: Chunk, generator: ScriptedGenerator, visit: Any
) -> None:
    assistant = await Assistant.objects.acreate(name="Keeper", is_default=True)
    page = await ask(visit, user, generator)
    assistant.visibility = Visibility.RESTRICTED
    await assistant.asave()
    await assert_ended(page, generator)


async def test_a_change_that_takes_nothing_from_the_reader_lets_the_answer_go_on(
    user: User, towers: Collection, generator: ScriptedGenerator, visit: Any, other: User
) -> None:
    await sync_to_async(towers.readers.add)(user, other)
    page = await ask(visit, user, generator)
    await sync_to_async(towers.readers.remove)(other)
    await page.send_json_to({"type": "stop"})
    assert (await frames_until(page, "error", "done"))[-1]["finish_reason"] == "cancelled"


async def test_revoking_a_session_closes_its_socket(
    user: User, generator: ScriptedGenerator, visit: Any
) -> None:
    page, elsewhere = await visit(user), await visit(user)
    await page.connect()
    await elsewhere.connect()
    await sync_to_async(Session.objects.filter(session_key=page.session).delete)()
    assert await page.receive_output(timeout=10) == CLOSED
    await elsewhere.send_json_to(QUESTION)
    assert (await frame(elsewhere))["stage"] == "queued"


async def test_what_is_rolled_back_is_not_told(
    user: User, towers: Collection, generator: ScriptedGenerator, visit: Any
) -> None:
    """Who was not committed to lose anything keeps the answer."""

    def take_away_and_think_better_of_it() -> None:
        with transaction.atomic():
            towers.readers.remove(user)
            transaction.set_rollback(True)

    await sync_to_async(towers.readers.add)(user)
    page = await ask(visit, user, generator)
    await sync_to_async(take_away_and_think_better_of_it)()
    await page.send_json_to({"type": "stop"})
    assert (await frames_until(page, "error", "done"))[-1]["finish_reason"] == "cancelled"
