"""The generator names a new conversation when its first answer has been shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from pytest_django import Settings

from chat import runs, titling
from chat.answering import titles
from chat.answering.titles import Title
from chat.client_messages import Ask
from chat.frames import Done
from chat.models import Conversation, Titling
from retrieval.backends.base import BackendError
from retrieval.limits.models import Charge
from retrieval.models import Chunk
from tests.background import settled
from tests.fakes import ScriptedGenerator

QUESTION = "How high is the tower of Lund?"
NAME = "Height of the tower"


@pytest.fixture(autouse=True)
async def _quiet(transactional_db: None) -> AsyncIterator[None]:
    yield
    await settled()
    await sync_to_async(connections.close_all)()


@pytest.fixture(autouse=True)
def _titles(settings: Settings, tower: Chunk, generator: ScriptedGenerator) -> None:
    settings.TITLES = True
    settings.REWRITE = False
    generator.script = [NAME]


async def answered(user: User, conversation: Conversation | None = None) -> Done:
    """Ask, read to the end, and let what follows it end too."""
    asked = Ask(type="ask", text=QUESTION, conversation=conversation and conversation.pk)
    run = await runs.start(user, asked)
    frames = [frame async for frame in runs.follow(user, run.id)]
    await settled()
    done = frames[-1]
    assert isinstance(done, Done)
    return done


async def test_the_first_answer_is_followed_by_a_title(user: User) -> None:
    await answered(user)
    found = await Conversation.objects.aget()
    assert (found.title, found.titled_by) == (NAME, Titling.GENERATOR)


async def test_the_generator_is_shown_the_question_and_nothing_of_the_documents(
    user: User, generator: ScriptedGenerator
) -> None:
    await answered(user)
    shown = " ".join(message.content for message in generator.requests[-1].messages)
    assert QUESTION in shown
    assert "Anna Berg" not in shown


async def test_what_it_took_is_charged_beside_the_answer(user: User) -> None:
    done = await answered(user)
    charged = (await Charge.objects.aget()).tokens
    assert charged == done.usage.prompt_tokens + done.usage.completion_tokens + 12


async def test_a_name_that_somebody_gave_stays(user: User, generator: ScriptedGenerator) -> None:
    gate = asyncio.Event()
    generator.script = [NAME, gate]
    run = await runs.start(user, Ask(type="ask", text=QUESTION))
    await Conversation.objects.all().aupdate(title="Mine", titled_by=Titling.PERSON)
    gate.set()
    _ = [frame async for frame in runs.follow(user, run.id)]
    await settled()
    assert (await Conversation.objects.aget()).title == "Mine"


async def test_a_later_question_names_nothing(user: User, generator: ScriptedGenerator) -> None:
    await answered(user)
    before = len(generator.requests)
    await answered(user, await Conversation.objects.aget())
    assert len(generator.requests) == before + 1


async def test_an_answer_ends_before_its_title_is_written(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def slow(*_: object) -> Title:
        await gate.wait()
        return Title(NAME)

    monkeypatch.setattr(titles, "by_generator", slow)
    run = await runs.start(user, Ask(type="ask", text=QUESTION))
    frames = [frame async for frame in runs.follow(user, run.id)]
    assert isinstance(frames[-1], Done)
    assert (await Conversation.objects.aget()).title == QUESTION
    gate.set()


async def test_a_generator_that_fails_leaves_the_question(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> Title:
        raise BackendError("made up", False)

    monkeypatch.setattr(titles, "by_generator", fail)
    await answered(user)
    assert (await Conversation.objects.aget()).title == QUESTION


async def test_what_is_no_title_leaves_the_question_and_is_charged(
    user: User, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 metres high [1]."]
    done = await answered(user)
    found = await Conversation.objects.aget()
    assert (found.title, found.titled_by) == (QUESTION, Titling.QUESTION)
    charged = (await Charge.objects.aget()).tokens
    assert charged > done.usage.prompt_tokens + done.usage.completion_tokens


async def test_no_more_than_some_are_made_at_once(
    user: User, generator: ScriptedGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(titling, "MOST", 0)
    await answered(user)
    assert (await Conversation.objects.aget()).title == QUESTION


async def test_turned_off_no_generator_is_asked(user: User, settings: Settings) -> None:
    settings.TITLES = False
    await answered(user)
    assert (await Conversation.objects.aget()).title == QUESTION
