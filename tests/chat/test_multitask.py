"""A second question while the first one's answer is being written."""

import asyncio

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from chat import runs
from chat.client_messages import Ask
from chat.frames import Done, Frame
from chat.models import Run
from retrieval.models import Chunk
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.usefixtures("runs_end")

QUESTION = "How high is the tower?"


async def read(user: User, run: Run) -> list[Frame]:
    return [frame async for frame in runs.follow(user, run.id)]


async def ask(user: User, text: str = QUESTION, after: Run | None = None) -> Run:
    conversation = after and after.conversation_id
    return await runs.start(user, Ask(type="ask", text=text, conversation=conversation))


def stages(frames: list[Frame]) -> list[str]:
    return [getattr(frame, "stage", frame.type) for frame in frames]


async def test_an_enqueued_question_is_answered_after_the_first_one(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    """It is stored at once, waits, and carries what was said before its turn."""
    settings.MULTITASK_STRATEGY = "enqueue"
    settings.REWRITE = False
    go_on = asyncio.Event()
    generator.script = ["96 m [1].", go_on]
    first = await ask(user)
    second = await ask(user, "Who built the tower?", first)
    third = await ask(user, "When was the tower built?", first)
    states = [await Run.objects.values_list("state", flat=True).aget(id=second.id)]
    go_on.set()
    answers = await asyncio.gather(*(read(user, run) for run in (first, second, third)))
    assert states == ["queued"]
    assert all(isinstance(frames[-1], Done) for frames in answers)
    asked = [[m.content for m in request.messages[1:]] for request in generator.requests]
    assert [len(messages) for messages in asked] == [1, 3, 5]
    assert asked[2][:4] == [QUESTION, "96 m .", "Who built the tower?", "96 m ."]


async def test_an_enqueued_question_can_be_stopped_before_its_turn(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.MULTITASK_STRATEGY = "enqueue"
    go_on = asyncio.Event()
    generator.script = [go_on, "96 m."]
    first = await ask(user)
    second = await ask(user, "Who built the tower?", first)
    await runs.stop(user, second.id)
    assert stages(await read(user, second)) == ["queued", "done"]
    go_on.set()
    assert isinstance((await read(user, first))[-1], Done)
    assert len(generator.requests) == 1


async def test_an_interrupting_question_stops_the_answer_before_it(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.MULTITASK_STRATEGY = "interrupt"
    generator.script = ["It is ", asyncio.Event()]
    first = await ask(user)
    async for frame in runs.follow(user, first.id):
        if frame.type == "token":
            break
    generator.script = ["1931."]
    second = await ask(user, "When was the tower built?", first)
    ends = [(await read(user, run))[-1] for run in (first, second)]
    assert [getattr(end, "finish_reason", "") for end in ends] == ["cancelled", "stop"]
