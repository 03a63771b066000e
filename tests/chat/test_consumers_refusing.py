"""Messages that are not of the protocol, or name what is not there."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.models import Message
from retrieval.models import Chunk
from tests.fakes import ScriptedGenerator
from tests.sockets import QUESTION, Page, frame, frames_until

NOBODYS = "943fad48-67b5-4f75-a7c1-ba2f935198ad"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("no json", "bad_json"),
        ("[" * 5000, "bad_json"),
        ("[1]", "unknown_type"),
        ("{}", "unknown_type"),
        ('{"type": "shout"}', "unknown_type"),
        ('{"type": "ask", "id": "a", "text": "Why?", "settings": [1]}', "bad_request"),
        ('{"type": "ask"}', "bad_request"),
        ('{"type": "ask", "text": 7}', "bad_request"),
        ('{"type": "ask", "text": "  "}', "empty_question"),
        (json.dumps({"type": "ask", "text": "x" * 100_000}), "question_too_long"),
        ('{"type": "resume", "run": "x"}', "bad_request"),
        (json.dumps({"type": "resume", "run": NOBODYS}), "not_found"),
        (json.dumps({"type": "watch", "conversation": NOBODYS}), "not_found"),
        (json.dumps({"type": "stop", "run": NOBODYS}), "not_found"),
        (json.dumps(QUESTION | {"conversation": NOBODYS}), "not_found"),
        (json.dumps(QUESTION | {"assistant": "Nobody"}), "unknown_assistant"),
        (json.dumps(QUESTION | {"collections": ["Nowhere"]}), "unknown_collection"),
        (json.dumps(QUESTION | {"settings": {"limmit": 3}}), "bad_settings"),
    ],
)
async def test_a_bad_message_gets_an_error_and_the_socket_goes_on(
    generator: ScriptedGenerator, tab: Page, message: str, code: str
) -> None:
    await tab.send_to(text_data=message)
    refused = await frame(tab)
    assert (refused["type"], refused["run"], refused["seq"]) == ("error", None, 0)
    assert refused["code"] == code
    await tab.send_json_to(QUESTION)
    assert (await frames_until(tab, "done"))[-1]["finish_reason"] == "no_answer"
    assert await Message.objects.acount() == 2


async def test_a_refused_question_is_named(generator: ScriptedGenerator, tab: Page) -> None:
    await tab.send_json_to({"type": "ask", "text": "", "id": "mine"})
    assert (await frame(tab))["ask"] == "mine"


async def test_bytes_that_are_no_json_get_an_error(generator: ScriptedGenerator, tab: Page) -> None:
    await tab.send_to(bytes_data=b"\xff\xfe\x00")
    assert (await frame(tab))["code"] == "bad_json"


async def test_a_message_that_is_too_big_closes_the_socket(
    generator: ScriptedGenerator, tab: Page
) -> None:
    await tab.send_to(text_data="x" * 1_000_001)
    assert await tab.receive_output(timeout=10) == {"type": "websocket.close", "code": 4413}


async def test_another_persons_run_is_not_there(
    user: User, other: User, tower: Chunk, generator: ScriptedGenerator, visit: Any
) -> None:
    generator.script = ["Mine."]
    mine = await visit(user)
    await mine.connect()
    await mine.send_json_to(QUESTION)
    begun = (await frames_until(mine, "done"))[0]
    tab = await visit(other)
    await tab.connect()
    for message in (
        {"type": "resume", "run": begun["run"]},
        {"type": "watch", "conversation": begun["conversation"]},
        {"type": "stop", "run": begun["run"]},
        QUESTION | {"conversation": begun["conversation"]},
    ):
        await tab.send_json_to(message)
        assert (await frame(tab))["code"] == "not_found"
