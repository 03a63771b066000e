"""Whose the socket is: it goes when the session does."""

import asyncio
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client

from chat.models import Message
from retrieval.models import Chunk
from tests.fakes import ScriptedGenerator
from tests.sockets import CLOSED, QUESTION, Page, frame, frames_until


async def test_a_socket_without_a_sign_in_is_closed_with_4401(
    transactional_db: None, visit: Any
) -> None:
    tab = await visit()
    assert await tab.connect() == (True, None)
    assert await tab.receive_output(timeout=10) == {"type": "websocket.close", "code": 4401}


async def test_signing_out_closes_the_socket_and_ends_what_it_reads(
    tower: Chunk, generator: ScriptedGenerator, tab: Page
) -> None:
    generator.script = ["Half", asyncio.Event()]
    await tab.send_json_to(QUESTION)
    await frames_until(tab, "token")
    browser = Client()
    browser.cookies[django_settings.SESSION_COOKIE_NAME] = tab.session
    await sync_to_async(browser.post)("/accounts/logout/")
    assert await tab.receive_output(timeout=10) == CLOSED


async def test_signing_out_leaves_other_sessions_alone(
    user: User, generator: ScriptedGenerator, visit: Any
) -> None:
    tab, other_device = await visit(user), await visit(user)
    await tab.connect()
    await other_device.connect()
    browser = Client()
    browser.cookies[django_settings.SESSION_COOKIE_NAME] = tab.session
    await sync_to_async(browser.post)("/accounts/logout/")
    assert await tab.receive_output(timeout=10) == CLOSED
    await other_device.send_json_to(QUESTION)
    assert (await frame(other_device))["stage"] == "queued"


async def test_deactivating_a_user_closes_the_socket(
    user: User, generator: ScriptedGenerator, tab: Page
) -> None:
    user.is_active = False
    await sync_to_async(user.save)()
    assert await tab.receive_output(timeout=10) == CLOSED


async def test_a_session_that_ended_unheard_is_noticed_when_something_is_asked(
    generator: ScriptedGenerator, tab: Page
) -> None:
    await User.objects.aupdate(is_active=False)
    await tab.send_json_to(QUESTION)
    assert await tab.receive_output(timeout=10) == CLOSED
    assert await Message.objects.acount() == 0


async def test_who_changed_the_password_goes_on(
    user: User, tower: Chunk, generator: ScriptedGenerator, tab: Page
) -> None:
    """The session is a new password's, too: `update_session_auth_hash` saw to that."""
    generator.script = ["96 m."]

    def change_password() -> None:
        user.set_password("another")
        User.objects.filter(pk=user.pk).update(password=user.password)
        session = SessionStore(tab.session)
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()

    await sync_to_async(change_password)()
    await tab.send_json_to(QUESTION)
    assert (await frames_until(tab, "done", "error"))[-1]["type"] == "done"


async def test_a_foreign_origins_handshake_is_rejected(user: User, visit: Any) -> None:
    tab = await visit(user, origin="http://evil.example")
    connected, _ = await tab.connect()
    assert not connected
