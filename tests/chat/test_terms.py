"""What a program can say of a question that a page cannot."""

import asyncio
from contextlib import aclosing

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from pytest_django import Settings

from chat import runs
from chat.active import RUNS
from chat.client_messages import Ask
from chat.frames import Done
from chat.models import Assistant, Conversation, Message, Run, RunState
from chat.runs import RunRefused
from chat.sidebar import listing
from chat.terms import Terms
from retrieval.backends.base import ChatMessage
from retrieval.models import Chunk
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.usefixtures("runs_end")


def asking(text: str = "How high is the tower?", **fields: object) -> Ask:
    return Ask.model_validate({"type": "ask", "text": text, **fields})


async def answered(user: User, ask: Ask, terms: Terms) -> Run:
    run = await runs.start(user, ask, terms)
    async with aclosing(runs.follow(user, run.id)) as frames:
        assert isinstance([frame async for frame in frames][-1], Done)
    return await Run.objects.aget(id=run.id)


async def leave(user: User, run: Run) -> None:
    """Read a run up to its first words, and go."""
    async with aclosing(runs.follow(user, run.id)) as frames:
        async for frame in frames:
            if frame.type == "token":
                return


async def test_earlier_turns_of_the_client_reach_the_model_and_are_not_stored(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.REWRITE = False
    generator.script = ["96 m [1]."]
    history = [ChatMessage("user", "What is in Lund?"), ChatMessage("assistant", "A tower.")]
    run = await answered(user, asking(), Terms(history=history))
    sent = [message.content for message in generator.requests[0].messages[1:3]]
    assert sent == ["What is in Lund?", "A tower."]
    stored = Message.objects.filter(conversation=run.conversation_id)
    assert [message.text async for message in stored] == ["How high is the tower?", "96 m [1]."]


async def test_an_unlisted_conversation_is_kept_and_not_shown(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m [1]."]
    run = await answered(user, asking(), Terms(listed=False))
    shown = await sync_to_async(lambda: list(listing(user, "1", "")["page"]))()
    assert shown == []
    assert await Conversation.objects.filter(id=run.conversation_id, user=user).aexists()


async def test_an_answer_ends_at_once_when_its_reader_leaves_where_the_terms_say_so(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.RUN_GRACE_SECONDS = 600
    generator.script = ["Half", asyncio.Event()]
    run = await runs.start(user, asking(), Terms(on_leave="stop"))
    work = RUNS[run.id].work
    await leave(user, run)
    await asyncio.wait([work])
    assert generator.closed.is_set()
    await run.arefresh_from_db()
    assert run.state == RunState.CANCELLED


async def test_an_answer_is_finished_without_a_reader_where_the_terms_say_so(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.RUN_GRACE_SECONDS = 0
    go_on = asyncio.Event()
    generator.script = ["Half", go_on, " and half."]
    run = await runs.start(user, asking(), Terms(on_leave="finish"))
    work = RUNS[run.id].work
    await leave(user, run)
    go_on.set()
    await asyncio.wait([work])
    await run.arefresh_from_db()
    assert run.state == RunState.COMPLETED


async def test_terms_decide_what_becomes_of_a_second_question(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    """Whatever the setting says."""
    settings.MULTITASK_STRATEGY = "reject"
    generator.script = ["Half", asyncio.Event()]
    first = await runs.start(user, asking())
    again = asking(conversation=str(first.conversation_id))
    with pytest.raises(RunRefused):
        await runs.start(user, again, Terms(multitask="reject"))
    second = await runs.start(user, again, Terms(multitask="enqueue"))
    assert second.state == RunState.QUEUED
    await runs.stop(user, second.id)
    third = await runs.start(user, again, Terms(multitask="interrupt"))
    await first.arefresh_from_db()
    assert first.state == RunState.CANCELLED
    await runs.stop(user, third.id)


async def test_a_question_can_say_how_it_is_answered(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m [1]."]
    asked = {"temperature": 0.5, "max_tokens": 50}
    run = await answered(user, asking(generation=asked), Terms())
    assert generator.requests[0].settings.given() == asked
    assert run.generation == asked


async def test_no_question_has_a_longer_answer_than_its_assistant_gives(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    await Assistant.objects.acreate(
        name="Brief", is_default=True, visibility="signed_in", generation={"max_tokens": 20}
    )
    generator.script = ["96 m [1]."]
    await answered(user, asking(generation={"max_tokens": 50}), Terms())
    assert generator.requests[0].settings.max_tokens == 20


async def test_a_bad_way_to_answer_is_refused_by_the_field_s_name(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    with pytest.raises(RunRefused, match="temperature") as refused:
        await runs.start(user, asking(generation={"temperature": "hot"}))
    assert refused.value.code == "bad_settings"


async def test_a_conversation_made_without_a_question_gets_its_title_and_assistant_with_the_first(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    brief = await Assistant.objects.acreate(name="Brief", is_default=True, visibility="signed_in")
    made = await Conversation.objects.acreate(user=user, metadata={"kept": 1})
    assert await sync_to_async(lambda: list(listing(user, "1", "")["page"]))() == []
    generator.script = ["96 m [1]."]
    await answered(user, asking(conversation=str(made.id)), Terms(metadata={"mine": 2}))
    await made.arefresh_from_db()
    assert made.title == "How high is the tower?"
    assert (made.assistant_id, made.metadata) == (brief.id, {"kept": 1})
    shown = await sync_to_async(lambda: list(listing(user, "1", "")["page"]))()
    assert shown == [made]
    assert (await made.runs.aget()).metadata == {"mine": 2}
