"""Guests at every door: who they are, what is kept of them, and what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.accounts import guests
from chat.accounts.models import Guest
from chat.models import Assistant, Conversation, Run
from retrieval.database import in_thread
from retrieval.limits.models import Charge
from retrieval.models import Chunk, Collection
from tests.conversations import answered, document
from tests.fakes import ScriptedGenerator
from tests.sockets import CLOSED, QUESTION, Page, frame, frames_until

WELCOME = b"Sign in"


@pytest.fixture
def public(transactional_db: None) -> Assistant:
    """Make an assistant that anybody may ask, and make public what it searches."""
    Collection.objects.update(visibility="public")
    return Assistant.objects.create(name="Open", visibility="public", greeting="Ask away.")


def stored_guest(client: Client) -> Guest:
    """Store the guest that a browser is, as their first question does."""
    name = guests.name_in({name: morsel.value for name, morsel in client.cookies.items()})
    assert name is not None
    return guests._stored(guests.named(name))


@pytest.fixture
async def guest_visit(visit: Any) -> AsyncIterator[Any]:
    """Open the socket of a guest's page."""

    async def open_socket(client: Client) -> Page:
        page: Page = await visit()
        morsel = client.cookies[guests.COOKIE]
        page.scope["headers"].append((b"cookie", f"{guests.COOKIE}={morsel.value}".encode()))
        return page

    yield open_socket


def test_nobody_is_a_guest_where_no_assistant_is_public(client: Client, db: None) -> None:
    Assistant.objects.create(name="Ours", visibility="signed_in")
    response = client.get("/")
    assert (response.status_code, response["Location"]) == (302, "/accounts/login/?next=/")
    assert guests.COOKIE not in response.cookies


def test_a_visit_stores_nothing_and_sets_a_cookie(client: Client, public: Assistant) -> None:
    response = client.get("/")
    assert b"Ask away." in response.content
    assert WELCOME in response.content
    assert reverse("admin:index").encode() not in response.content
    assert response.cookies[guests.COOKIE]["httponly"]
    assert not User.objects.exists()
    assert not client.session.keys()


def test_a_guest_stays_the_same_on_the_next_visit(client: Client, public: Assistant) -> None:
    client.get("/")
    before = guests.name_in({guests.COOKIE: client.cookies[guests.COOKIE].value})
    client.get("/")
    assert guests.name_in({guests.COOKIE: client.cookies[guests.COOKIE].value}) == before


@pytest.mark.parametrize("cookie", ["", "guest-1", "guest-x:1abc:bad", "\x00"])
def test_a_cookie_that_is_not_ours_names_nobody(cookie: str) -> None:
    assert guests.name_in({guests.COOKIE: cookie}) is None


def test_a_guest_reads_their_own_conversations_only(client: Client, public: Assistant) -> None:
    client.get("/")
    version = document()
    Collection.objects.update(visibility="public")
    own = answered(stored_guest(client), version=version)
    others = answered(User.objects.create_user("ada"), version=version)
    for run, status in ((own, 200), (others, 404)):
        assert client.get(f"/c/{run.conversation_id}/").status_code == status
        assert client.get(f"/messages/{run.answer_id}/").status_code == status
        assert client.get(f"/messages/{run.answer_id}/citations/0/").status_code == status
        assert client.get(f"/messages/{run.answer_id}/sources/").status_code == status
    assert own.conversation.title.encode() in client.get("/sidebar/").content
    assert client.post(f"/c/{others.conversation_id}/delete/").status_code == 404
    assert client.post(f"/c/{own.conversation_id}/delete/").status_code == 200


def test_what_is_no_longer_public_is_gone_from_a_guests_answers(
    client: Client, public: Assistant
) -> None:
    client.get("/")
    own = answered(stored_guest(client))
    Collection.objects.update(visibility="signed_in")
    content = client.get(f"/messages/{own.answer_id}/citations/0/").content
    assert b"22 miles" not in content


def test_a_guest_has_no_place_in_the_administration(client: Client, public: Assistant) -> None:
    client.get("/")
    stored_guest(client)
    for name in ("admin:index", "admin:retrieval_document_upload"):
        assert client.get(reverse(name)).status_code == 302


def test_guests_sign_in_where_the_last_public_assistant_was_closed(
    client: Client, public: Assistant
) -> None:
    client.get("/")
    own = answered(stored_guest(client))
    Assistant.objects.update(visibility="signed_in")
    assert client.get(f"/c/{own.conversation_id}/").status_code == 302


def test_who_signs_in_keeps_the_conversations_they_had_as_a_guest(
    client: Client, public: Assistant
) -> None:
    client.get("/")
    guest = stored_guest(client)
    own = answered(guest, ask_id="q1")
    ada = User.objects.create_user("ada", password="a long enough password")
    answered(ada, ask_id="q1", version=document(title="Another"))
    response = client.post(
        "/accounts/login/", {"login": "ada", "password": "a long enough password"}
    )
    assert response.status_code == 302
    assert Conversation.objects.get(pk=own.conversation_id).user == ada
    assert Run.objects.get(pk=own.pk).user == ada
    assert not Guest.objects.exists()
    page = client.get(f"/c/{own.conversation_id}/")
    assert page.status_code == 200
    assert not client.cookies[guests.COOKIE].value


async def test_a_socket_without_the_cookie_is_nobodys(visit: Any, public: Assistant) -> None:
    page = await visit()
    await page.connect()
    assert await page.receive_output(10) == CLOSED


async def test_a_guest_asks_and_is_stored_with_the_first_question(
    public: Assistant, tower: Chunk, generator: ScriptedGenerator, guest_visit: Any
) -> None:
    await Collection.objects.aupdate(visibility="public")
    generator.script = ["It is 96 m high [1]."]
    client = Client()
    await sync_to_async(client.get)("/")
    page = await guest_visit(client)
    await page.connect()
    await page.send_json_to({"type": "prefetch", "text": QUESTION["text"]})
    assert not await User.objects.aexists()
    await page.send_json_to(QUESTION)
    received = await frames_until(page, "done", "error")
    assert received[-1]["answer"] == "It is 96 m high [1]."
    guest = await Guest.objects.aget()
    assert (await Run.objects.aget()).user_id == guest.pk
    assert (await Charge.objects.aget()).address is not None
    await page.send_json_to({"type": "watch", "conversation": received[0]["conversation"]})
    await page.send_json_to({"type": "resume", "run": received[0]["run"], "after": 0})
    assert [each["type"] for each in await frames_until(page, "done")][-1] == "done"


async def test_a_guest_who_may_not_ask_is_not_stored(
    public: Assistant, guest_visit: Any, settings: Settings
) -> None:
    settings.GUEST_ADDRESS_QUESTIONS_A_MINUTE = 0
    client = Client()
    await sync_to_async(client.get)("/")
    page = await guest_visit(client)
    await page.connect()
    await page.send_json_to(QUESTION)
    assert (await frame(page))["code"] == "quota_exceeded"
    assert not await User.objects.aexists()


async def test_a_guest_cannot_follow_the_run_of_somebody_else(
    public: Assistant, guest_visit: Any
) -> None:
    run = await in_thread(lambda: answered(User.objects.create_user("ada")))
    client = Client()
    await sync_to_async(client.get)("/")
    page = await guest_visit(client)
    await page.connect()
    for message in (
        {"type": "resume", "run": str(run.pk), "after": 0},
        {"type": "stop", "run": str(run.pk)},
        {"type": "watch", "conversation": str(run.conversation_id)},
        {"type": "ask", "text": "And?", "conversation": str(run.conversation_id)},
    ):
        await page.send_json_to(message)
        assert (await frame(page))["code"] == "not_found"


async def test_signing_in_on_one_page_has_the_guests_other_pages_do_so(
    public: Assistant, guest_visit: Any
) -> None:
    client = Client()
    await sync_to_async(client.get)("/")
    page = await guest_visit(client)
    await page.connect()
    ada = await sync_to_async(User.objects.create_user)("ada", password="ada")
    await sync_to_async(guests.take_over)(request=_Request(client), user=ada)
    assert await page.receive_output(10) == CLOSED


async def test_closing_the_last_public_assistant_closes_guests_sockets(
    public: Assistant, guest_visit: Any
) -> None:
    client = Client()
    await sync_to_async(client.get)("/")
    page = await guest_visit(client)
    await page.connect()
    public.visibility = "signed_in"
    await public.asave()
    assert await page.receive_output(10) == CLOSED


async def test_two_pages_of_one_guest_ask_their_first_questions_at_once(public: Assistant) -> None:
    guest = await in_thread(guests.named, "guest-00000000-0000-7000-8000-000000000000")
    stored = await asyncio.gather(*(guests.keep(guest) for _ in range(5)))
    assert len({each.pk for each in stored}) == 1


class _Request:
    def __init__(self, client: Client) -> None:
        self.COOKIES = {name: morsel.value for name, morsel in client.cookies.items()}
