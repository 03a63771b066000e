"""Sockets as pages open them, straight to the application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import connections
from django.test import Client

from tests.background import settled

if TYPE_CHECKING:
    from django.contrib.auth.models import User

QUESTION = {"type": "ask", "text": "How high is the tower?", "id": "q1"}
CLOSED = {"type": "websocket.close", "code": 4401}


class Page(WebsocketCommunicator):
    """A browser's socket; slow machines get time."""

    session = ""

    async def connect(self, timeout: float = 10) -> tuple[bool, Any]:  # noqa: ASYNC109
        return await super().connect(timeout)

    async def disconnect(self, code: int = 1000, timeout: float = 10) -> None:  # noqa: ASYNC109
        await super().disconnect(code, timeout)


@pytest.fixture
async def visit(transactional_db: None) -> AsyncIterator[Callable[..., Awaitable[Page]]]:
    """Open sockets as a browser does that is signed in as someone; they are closed at the end."""
    # The apps are loaded only now.
    from chat import active  # noqa: PLC0415
    from ragsite.asgi import application  # noqa: PLC0415

    pages: list[Page] = []

    async def open_page(user: User | None = None, origin: str = "http://localhost") -> Page:
        client = Client()
        if user:
            await sync_to_async(client.force_login)(user)
        cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
        headers = [(b"origin", origin.encode()), (b"host", b"localhost")]
        if cookie:
            headers.append((b"cookie", f"{cookie.key}={cookie.value}".encode()))
        page = Page(application, "/ws/chat/", headers)
        page.session = cookie.value if cookie else ""
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        await page.disconnect()
    for run in list(active.RUNS.values()):
        run.cancel("stopped")
    await settled()
    await sync_to_async(connections.close_all)()


async def frame(page: Page) -> dict[str, Any]:
    received: dict[str, Any] = json.loads(await page.receive_from(timeout=10))
    return received


async def frames_until(page: Page, *kinds: str) -> list[dict[str, Any]]:
    """Return the frames up to the first of one of these types."""
    received = [await frame(page)]
    while received[-1]["type"] not in kinds:
        received.append(await frame(page))
    return received
