"""Asking by a plain form: it comes back when the answer has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.http import HttpResponse
from django.test import AsyncClient
from django.urls import reverse

from chat import plain_form, runs
from chat.accounts.models import Guest
from chat.models import Assistant, Audience, Conversation, Message, Run, RunState
from retrieval.models import Collection
from tests.background import settled
from tests.fakes import ScriptedGenerator

QUESTION = "How high is the tower of Lund?"
pytestmark = pytest.mark.usefixtures("tower")


@pytest.fixture(autouse=True)
async def _closed(transactional_db: None) -> AsyncIterator[None]:
    """Close the connection of asgiref's thread, which ran this test's queries."""
    yield
    await settled()
    await sync_to_async(connections.close_all)()


@pytest.fixture
async def page(user: User) -> AsyncClient:
    """Return a browser in which Ada is signed in."""
    client = AsyncClient()
    await client.aforce_login(user)
    return client


async def ask(page: AsyncClient, text: str = QUESTION, **fields: Any) -> HttpResponse:
    response: HttpResponse = await page.post(reverse("chat:ask"), {"text": text, **fields})
    return response


async def test_the_answer_is_there_when_the_page_comes(
    page: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is **96 metres** high [1]."]
    response = await ask(page)
    conversation = await Conversation.objects.aget()
    assert response.headers["Location"] == reverse("chat:conversation", args=[conversation.pk])
    shown = (await page.get(response.headers["Location"])).content.decode()
    assert "It is **96 metres** high [1]." in shown
    assert "[1] <strong>The tower</strong>, p. 3: <q>" in shown
    assert "http-equiv" not in shown


async def test_a_second_question_goes_on_with_the_conversation(
    page: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 metres [1]."]
    await ask(page)
    first = await Conversation.objects.aget()
    await ask(page, "Who built it?", conversation=str(first.pk))
    assert await Message.objects.filter(conversation=first).acount() == 4


async def test_a_form_that_is_sent_twice_asks_once(
    page: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 metres [1]."]
    for _ in range(2):
        assert (await ask(page, id="the same")).status_code == 302
    assert await Run.objects.acount() == 1


async def test_a_suggested_question_is_asked(
    page: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 metres [1]."]
    await ask(page, "", suggestion=QUESTION)
    assert await Message.objects.filter(text=QUESTION).aexists()


async def test_the_chosen_assistant_answers_from_the_chosen_collection(
    page: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 metres [1]."]
    await Assistant.objects.acreate(name="Archivist", instructions="Be brief.")
    await Assistant.objects.acreate(name="Default", is_default=True)
    await Collection.objects.acreate(name="Empty")
    await ask(page, assistant="Archivist", collections=["Empty"])
    conversation = await Conversation.objects.select_related("assistant").aget()
    assert conversation.assistant and conversation.assistant.name == "Archivist"
    assert not generator.requests  # nothing was found there


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": "  "}, "Please type a question."),
        ({"text": "x" * 20_001}, "The question is too long"),
        ({"text": "Why?", "assistant": "Nobody"}, "There is no assistant of that name."),
        ({"text": "Why?", "conversation": "nonsense"}, "is missing or wrong"),
    ],
)
async def test_a_refusal_says_why_and_keeps_the_text(
    page: AsyncClient, fields: dict[str, str], said: str
) -> None:
    response = await ask(page, **fields)
    assert response.status_code == 400
    shown = response.content.decode()
    assert said in shown
    assert f">{fields['text']}</textarea>" in shown
    assert not await Run.objects.aexists()


async def test_what_takes_long_is_waited_for_again(
    page: AsyncClient, generator: ScriptedGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_form, "WAIT_SECONDS", 0.01)
    go_on = asyncio.Event()
    generator.script = ["96 ", go_on, "metres [1]."]
    response = await ask(page)
    conversation = await Conversation.objects.aget()
    waiting = reverse("chat:wait", args=[conversation.pk])
    assert response.headers["Location"] == waiting
    assert (await page.get(waiting)).headers["Location"] == waiting
    shown = (await page.get(reverse("chat:conversation", args=[conversation.pk]))).content.decode()
    assert f'<meta http-equiv="refresh" content="1; url={waiting}">' in shown
    monkeypatch.setattr(plain_form, "WAIT_SECONDS", 30.0)
    go_on.set()
    ended = await page.get(waiting)
    assert ended.headers["Location"] == reverse("chat:conversation", args=[conversation.pk])
    assert (await Run.objects.aget()).state == RunState.COMPLETED


async def test_a_guest_asks_too(generator: ScriptedGenerator) -> None:
    generator.script = ["96 metres [1]."]
    await Collection.objects.aupdate(visibility="public")
    await Assistant.objects.acreate(name="Towers", visibility=Audience.PUBLIC)
    page = AsyncClient()
    await page.get("/")
    response = await ask(page)
    assert response.status_code == 302
    shown = (await page.get(response.headers["Location"])).content.decode()
    assert "96 metres [1]." in shown
    assert await Guest.objects.aexists()


async def test_who_has_to_sign_in_again_finds_the_text_in_the_form(
    page: AsyncClient, user: User, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 metres [1]."]
    await ask(page)
    conversation = await Conversation.objects.aget()
    address = reverse("chat:conversation", args=[conversation.pk])
    await page.alogout()
    response = await ask(page, "Who built <it>?", conversation=str(conversation.pk))
    assert response.headers["Location"] == f"{reverse('login')}?next={address}"
    assert await Run.objects.acount() == 1
    await page.aforce_login(user)
    shown = (await page.get(address)).content.decode()
    assert ">Who built &lt;it&gt;?</textarea>" in shown
    assert "Who built" not in (await page.get(address)).content.decode()


async def test_a_new_question_of_who_has_to_sign_in_is_kept_too(user: User) -> None:
    page = AsyncClient()
    response = await ask(page)
    assert response.headers["Location"] == f"{reverse('login')}?next={reverse('chat:new')}"
    await page.aforce_login(user)
    shown = (await page.get(reverse("chat:new"))).content.decode()
    assert f">{QUESTION}</textarea>" in shown


async def test_a_form_of_another_site_is_refused(user: User) -> None:
    page = AsyncClient(enforce_csrf_checks=True)
    await page.aforce_login(user)
    assert (await ask(page)).status_code == 403
    assert not await Run.objects.aexists()


async def test_while_the_site_restarts_the_text_is_kept(
    page: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    drained = asyncio.Event()
    drained.set()
    monkeypatch.setattr(runs, "_draining", drained)
    shown = (await ask(page)).content.decode()
    assert "ask again in a moment" in shown
    assert f">{QUESTION}</textarea>" in shown
