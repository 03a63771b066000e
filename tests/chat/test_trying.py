"""A question without a conversation: answered, and charged as any other."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat import trying
from chat.answering.question import Question
from retrieval.backends.base import BackendError
from retrieval.database import fetch, in_thread
from retrieval.limits.models import Limit
from retrieval.models import Chunk
from retrieval.search import Scope
from tests.fakes import ScriptedGenerator


def question(user: User) -> Question:
    return Question("How high is the tower?", Scope(user))


async def frames(user: User) -> list[dict[str, Any]]:
    return [json.loads(line) async for line in trying.lines(question(user), user)]


async def charges() -> list[Any]:
    return await fetch("SELECT user_id, tokens FROM limits_charge")


async def test_an_answer_is_charged_what_the_provider_says(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m [1]."]
    assert (await frames(user))[-1]["answer"] == "96 m [1]."
    assert await charges() == [(user.pk, 12)]


async def test_who_leaves_is_charged_what_was_written_till_then(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m [1].", " More."]
    async with aclosing(trying.lines(question(user), user)) as lines:
        async for line in lines:
            if '"token"' in line:
                break
    assert generator.closed.is_set()
    ((_, tokens),) = await charges()
    assert tokens > 0


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (BackendError("It is away.", False, code="unauthorized"), "unauthorized"),
        (ValueError("secret detail"), "internal"),
    ],
)
async def test_a_fault_is_the_last_line(
    user: User, tower: Chunk, generator: ScriptedGenerator, fault: Exception, code: str
) -> None:
    generator.script = [fault]
    last = (await frames(user))[-1]
    assert (last["type"], last["code"]) == ("error", code)
    assert "secret" not in last["message"]


async def test_a_limit_holds(user: User, tower: Chunk, generator: ScriptedGenerator) -> None:
    await in_thread(Limit.objects.create, user=user, tokens_a_day=0)
    (only,) = await frames(user)
    assert only["code"] == "quota_exceeded"
    assert generator.requests == []
    assert await charges() == []
