"""Sockets of programs, which sign in by a token, and what closes any socket at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.accounts import tokens
from chat.accounts.models import ApiToken, Scope
from chat.accounts.sockets import PROTOCOL
from chat.models import Conversation
from ragsite.asgi import application
from tests.sockets import Page, frame

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "rivers under seven lanterns"
Connect = Callable[[str], Awaitable[Page]]


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Open a socket as a program does, with a token and without an origin."""
    pages: list[Page] = []

    async def with_token(raw: str) -> Page:
        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {raw}".encode())]
        page = Page(application, "/ws/chat/", headers)
        pages.append(page)
        accepted, _ = await page.connect()
        assert accepted
        return page

    yield with_token
    for page in pages:
        await page.disconnect()


@pytest.fixture(autouse=True)
async def _close_connections() -> AsyncIterator[None]:
    yield
    await sync_to_async(connections.close_all)()


async def make(user: User, *scopes: Scope, **options: Any) -> tuple[ApiToken, str]:
    return await sync_to_async(tokens.make)(user, "x", scopes or [Scope.ASK], **options)


async def is_open(page: Page) -> bool:
    """Whether the socket answers: what is no message is refused in words."""
    await page.send_to(text_data="{}")
    return (await page.receive_output(10))["type"] == "websocket.send"


async def test_a_token_opens_the_socket_without_an_origin(connect: Connect, ada: User) -> None:
    _, raw = await make(ada)

    assert await is_open(await connect(raw))


async def test_a_script_offers_its_token_as_a_protocol(ada: User) -> None:
    """Browsers give scripts no way to send a header."""
    _, raw = await make(ada)
    page = Page(application, "/ws/chat/", [(b"host", b"localhost")], [PROTOCOL, raw])

    assert await page.connect() == (True, PROTOCOL)
    assert await is_open(page)
    await page.disconnect()


@pytest.mark.parametrize("protocols", [["other", "rs_1"], [PROTOCOL], [PROTOCOL, "rs_1"]])
async def test_no_other_protocol_signs_in(protocols: list[str]) -> None:
    origin = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
    page = Page(application, "/ws/chat/", origin, protocols)
    await page.connect()

    assert await page.receive_output(10) == {"type": "websocket.close", "code": 4401}


async def test_a_token_reads_what_its_user_may(connect: Connect, ada: User) -> None:
    bea = await User.objects.acreate_user("bea")
    own = await Conversation.objects.acreate(user=ada, title="Own")
    foreign = await Conversation.objects.acreate(user=bea, title="Foreign")
    _, raw = await make(ada)
    page = await connect(raw)

    await page.send_to(text_data=f'{{"type": "watch", "conversation": "{own.pk}"}}')
    await page.send_to(text_data=f'{{"type": "watch", "conversation": "{foreign.pk}"}}')

    assert (await frame(page))["code"] == "not_found"
    assert await is_open(page)


async def test_a_token_that_is_none_is_closed(connect: Connect) -> None:
    page = await connect("rs_none")

    assert (await page.receive_output(10))["code"] == 4401


async def test_a_token_without_the_scope_is_closed(connect: Connect, ada: User) -> None:
    _, raw = await make(ada, Scope.SEARCH)
    page = await connect(raw)

    assert (await page.receive_output(10))["code"] == 4401


async def test_revoking_closes_the_socket_at_once(connect: Connect, ada: User) -> None:
    token, raw = await make(ada)
    page = await connect(raw)
    assert await is_open(page)

    await sync_to_async(token.revoke)()

    assert (await page.receive_output(10))["code"] == 4401


async def test_another_token_of_the_same_person_goes_on(connect: Connect, ada: User) -> None:
    token, raw = await make(ada)
    _, other = await make(ada)
    page = await connect(other)

    await sync_to_async(token.revoke)()

    assert await is_open(page)
    assert raw != other


async def test_the_socket_closes_when_the_token_expires(connect: Connect, ada: User) -> None:
    soon = timezone.now() + timedelta(seconds=0.5)
    _, raw = await make(ada, expires_at=soon)
    page = await connect(raw)

    assert (await page.receive_output(10))["code"] == 4401
    assert timezone.now() >= soon


async def test_closing_the_account_closes_the_socket_of_a_token(
    connect: Connect, ada: User
) -> None:
    _, raw = await make(ada)
    page = await connect(raw)
    assert await is_open(page)

    ada.is_active = False
    await ada.asave()

    assert (await page.receive_output(10))["code"] == 4401


def sign_in() -> Client:
    client = Client()
    response = client.post(reverse("login"), {"login": "ada", "password": PASSWORD})
    assert response.status_code == 302
    return client


async def socket_of(client: Client) -> Page:
    cookie = client.cookies["sessionid"]
    page = Page(
        application,
        "/ws/chat/",
        [
            (b"host", b"localhost"),
            (b"origin", b"http://localhost"),
            (b"cookie", f"sessionid={cookie.value}".encode()),
        ],
    )
    await page.connect()
    assert await is_open(page)
    return page


async def test_a_session_that_is_signed_out_elsewhere_closes_its_socket_only(ada: User) -> None:
    here, there = await sync_to_async(sign_in)(), await sync_to_async(sign_in)()
    of_here, of_there = await socket_of(here), await socket_of(there)
    session = await UserSession.objects.aget(session_key=there.cookies["sessionid"].value)

    await sync_to_async(here.post)(reverse("accounts:end_session", args=[session.pk]))

    assert (await of_there.receive_output(10))["code"] == 4401
    assert await is_open(of_here)
    await of_here.disconnect()
    await of_there.disconnect()


async def test_a_new_password_closes_the_sockets_of_other_sessions(ada: User) -> None:
    here, there = await sync_to_async(sign_in)(), await sync_to_async(sign_in)()
    page = await socket_of(there)
    new = "seven lanterns over rivers"

    response = await sync_to_async(here.post)(
        reverse("account_change_password"),
        {"oldpassword": PASSWORD, "password1": new, "password2": new},
    )

    assert response.status_code == 302
    assert (await page.receive_output(10))["code"] == 4401
    assert (await sync_to_async(here.get)(reverse("usersessions_list"))).status_code == 200
    await page.disconnect()
