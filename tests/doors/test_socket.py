"""Every message of the socket that names what is somebody else's: it is not there."""

from __future__ import annotations

from typing import Any, get_args
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from chat.client_messages import ClientMessage
from chat.models import Assistant, Conversation, Message, Run
from tests.doors.people import (
    ADMINISTRATOR,
    MANAGER,
    OTHER,
    REVIEWER,
    SUPERUSER,
    World,
    make_world,
)
from tests.sockets import CLOSED, frame

STRANGERS = (OTHER, REVIEWER, MANAGER, ADMINISTRATOR, SUPERUSER)
MESSAGES = get_args(get_args(ClientMessage)[0])
KINDS = sorted(get_args(kind.model_fields["type"].annotation)[0] for kind in MESSAGES)
# What each kind of message gets that names what is the owner's; None is silence.
REFUSED = {
    "ask": "not_found",
    "stop": "not_found",
    "resume": "not_found",
    "watch": "not_found",
    "prefetch": None,
    "ack": None,
    # It names nothing.
    "ping": "pong",
}


@pytest.fixture
async def world(transactional_db: None) -> World:
    return await sync_to_async(make_world)()


def naming(world: World, kind: str) -> dict[str, Any]:
    """Return a message of a kind that names the owner's conversation, run and assistant."""
    return {
        "type": kind,
        "text": "How far can the lamp be seen?",
        "id": str(uuid4()),
        "conversation": str(world.conversation.pk),
        "run": str(world.run.pk),
        "seq": 1,
    }


def test_every_kind_of_message_has_a_rule() -> None:
    assert sorted(REFUSED) == KINDS


@pytest.mark.parametrize("kind", KINDS)
async def test_a_message_that_names_what_is_anothers_finds_nothing(
    world: World, visit: Any, kind: str
) -> None:
    messages = await Message.objects.acount()
    for person in STRANGERS:
        page = await visit(world.users[person])
        await page.connect()
        await page.send_json_to(naming(world, kind))
        # Its answer is behind the one to the first message, if that has any.
        await page.send_json_to({"type": "stop", "run": str(uuid4())})
        answers = [await frame(page)]
        if REFUSED[kind]:
            answers.append(await frame(page))
            assert answers[0].get("code", answers[0]["type"]) == REFUSED[kind], person
        assert answers[-1]["code"] == "not_found"
    assert await Message.objects.acount() == messages
    assert await Run.objects.acount() == 1
    assert (await Conversation.objects.aget()).user_id == world.users["owner"].pk


async def test_who_has_not_signed_in_is_not_heard(world: World, visit: Any) -> None:
    page = await visit()
    await page.connect()
    assert await page.receive_output(timeout=10) == CLOSED


async def test_an_assistant_that_is_for_others_is_not_there(world: World, visit: Any) -> None:
    """Neither by its name, nor among those to choose from."""
    asked = {"type": "ask", "text": "How far?", "assistant": world.assistant.name}
    for person in (OTHER, REVIEWER, MANAGER):
        page = await visit(world.users[person])
        await page.connect()
        await page.send_json_to(asked)
        assert (await frame(page))["code"] == "unknown_assistant", person


async def test_a_collection_that_is_for_others_is_not_there(world: World, visit: Any) -> None:
    await Assistant.objects.acreate(name="For all")
    asked = {"type": "ask", "text": "How far?", "collections": [world.collection.name]}
    for person in (OTHER, REVIEWER, "other_manager"):
        page = await visit(world.users[person])
        await page.connect()
        await page.send_json_to(asked)
        assert (await frame(page))["code"] == "unknown_collection", person
