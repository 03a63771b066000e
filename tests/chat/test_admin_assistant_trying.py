"""Trying an assistant in the admin as its form stands."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission, User
from django.db import connections
from django.test import AsyncClient, Client
from django.urls import reverse

from chat.models import Assistant, Conversation, Run
from retrieval.models import Chunk, Collection, Visibility
from tests.chat.assistants import ADD, FORM, allowed, page_of
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.django_db


@pytest.fixture
async def trying(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> AsyncIterator[AsyncClient]:
    """Return the browser of somebody who may change assistants."""

    def allow() -> None:
        user.is_staff = True
        user.save()
        wanted = ("change_assistant", "add_assistant")
        user.user_permissions.set(Permission.objects.filter(codename__in=wanted))

    await sync_to_async(allow)()
    client = AsyncClient()
    await client.aforce_login(user)
    yield client
    await sync_to_async(connections.close_all)()


async def answer(client: AsyncClient, url: str, **fields: Any) -> list[dict[str, Any]]:
    """Return the frames of the answer to a form and a question."""
    data = {**FORM, "question": "How high is the tower?", **fields}
    response: Any = await client.post(url, data)
    assert response.status_code == 200
    text = b"".join([part async for part in response.streaming_content]).decode()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.django_db(transaction=True)
async def test_a_question_is_answered_as_the_form_stands(
    trying: AsyncClient, generator: ScriptedGenerator
) -> None:
    made = await Assistant.objects.acreate(name="Archivist", instructions="Be brief.")
    generator.script = ["It is ", "96 m high [1]."]
    url = reverse("admin:chat_assistant_try", args=[made.pk])
    fields = {"instructions": "Be long.", "model": "large", "temperature": "0.5"}
    frames = await answer(trying, url, **fields)
    kinds = [frame["type"] for frame in frames]
    assert {"search_results", "token", "citation"} < set(kinds)
    assert frames[-1]["answer"] == "It is 96 m high [1]."
    (request,) = generator.requests
    assert request.messages[0].content.endswith("Be long.")
    assert (request.model, request.settings.temperature) == ("large", 0.5)
    await made.arefresh_from_db()
    assert made.instructions == "Be brief."
    assert not await Conversation.objects.aexists()
    assert not await Run.objects.aexists()


@pytest.mark.django_db(transaction=True)
async def test_an_assistant_is_tried_before_it_is_made(
    trying: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m [1]."]
    frames = await answer(trying, reverse("admin:chat_assistant_try_new"))
    assert frames[-1]["answer"] == "96 m [1]."
    assert not await Assistant.objects.aexists()


@pytest.mark.django_db(transaction=True)
async def test_who_tries_finds_no_more_than_they_may_see(
    trying: AsyncClient, generator: ScriptedGenerator
) -> None:
    await Collection.objects.aupdate(visibility=Visibility.RESTRICTED)
    frames = await answer(trying, reverse("admin:chat_assistant_try_new"))
    assert frames[-1]["finish_reason"] == "no_answer"
    assert generator.requests == []


@pytest.mark.django_db(transaction=True)
async def test_a_provider_that_fails_is_told_of_in_the_last_line(
    trying: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = [ValueError("secret detail")]
    frames = await answer(trying, reverse("admin:chat_assistant_try_new"))
    assert frames[-1]["type"] == "error"
    assert "secret" not in json.dumps(frames)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"question": " "}, {"Question": ["Please type a question."]}),
        ({"temperature": "9"}, {"Temperature": ["Input should be less than or equal to 2."]}),
        ({"name": ""}, {"Name": ["This field is required."]}),
    ],
)
def test_what_is_wrong_with_the_form_is_told_by_field(
    staff: Client, fields: dict[str, str], told: dict[str, list[str]]
) -> None:
    url = reverse("admin:chat_assistant_try_new")
    response = staff.post(url, {**FORM, "question": "How high?", **fields})
    assert response.status_code == 422
    assert response.json() == {"errors": told}


def test_the_page_offers_to_try_to_who_may_change(client: Client, archivist: Assistant) -> None:
    client.force_login(allowed("view_assistant"))
    assert 'id="try"' not in client.get(page_of(archivist)).content.decode()
    client.force_login(User.objects.create_superuser("chief"))
    assert 'id="try"' in client.get(page_of(archivist)).content.decode()
    assert 'id="try"' in client.get(ADD).content.decode()
