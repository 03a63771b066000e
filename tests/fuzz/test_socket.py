"""10,000 messages that make little sense, to the sockets of a running server."""

from __future__ import annotations

import asyncio
import json
import os
import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from django.contrib.auth.models import User
from django.test import Client
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests import conversations
from tests.browser.site import environment, wait_until_at_rest
from tests.deploy.conftest import Web
from tests.fuzz.hostile_values import message
from tests.servers import free_port

MESSAGES = int(os.environ.get("FUZZ_MESSAGES", "10000"))
SOCKETS = 4
# After so many, what is loaded once and kept is there.
WARM = MESSAGES // 4
# How many are sent before the server is waited for.
AT_ONCE = 50
# Allocators keep what they had; what leaks grows with the messages.
GROWTH_BYTES = 48 * 2**20
ANSWER_SECONDS = 60


class Visitor:
    """A page of somebody who sends anything; it opens its socket again when that is closed."""

    def __init__(self, url: str, cookie: str, chance: random.Random, known: list[str]) -> None:
        self.url, self.cookie, self.chance, self.known = url, cookie, chance, known
        self.socket: ClientConnection | None = None
        self.codes: set[int] = set()

    async def send(self, count: int) -> None:
        """Send so many messages, some at a time, each time until they are handled."""
        for sent in range(0, count, AT_ONCE):
            try:
                socket = self.socket = self.socket or await self.open()
                for _ in range(min(AT_ONCE, count - sent)):
                    await socket.send(message(self.chance, self.known))
                await self.handled(socket)
            except ConnectionClosed as closed:
                self.codes.add(closed.rcvd.code if closed.rcvd else 1006)
                self.socket = None

    async def open(self) -> ClientConnection:
        return await connect(
            f"ws{self.url.removeprefix('http')}/ws/chat/",
            origin=self.url,  # type: ignore[arg-type]
            additional_headers={"Cookie": self.cookie},
            max_size=None,
        )

    async def handled(self, socket: ClientConnection) -> None:
        """Return when everything that was sent has been handled: messages are taken in order."""
        mark = str(uuid4())
        await socket.send(json.dumps({"type": "stop", "ask": mark, "id": mark}))
        async with asyncio.timeout(ANSWER_SECONDS):
            while (frame := json.loads(await socket.recv())).get("ask") != mark:
                assert frame.get("code") != "internal", frame

    async def ask(self) -> list[dict[str, Any]]:
        """Ask a question as people do, on a socket of its own; return the frames."""
        frames: list[dict[str, Any]] = []
        async with await self.open() as socket, asyncio.timeout(ANSWER_SECONDS):
            await socket.send(json.dumps({"type": "ask", "text": "How far is the lamp seen?"}))
            while not frames or frames[-1]["type"] not in ("done", "error"):
                frames.append(json.loads(await socket.recv()))
        return frames


@pytest.fixture
def eve(transactional_db: None) -> User:
    return conversations.person("eve", is_staff=True, is_superuser=True)


def test_ten_thousand_messages_leave_the_server_as_it_was(
    eve: User, chance: random.Random, tmp_path: Path
) -> None:
    run = conversations.answered(eve)
    known = [str(each) for each in (run.pk, run.conversation_id, run.answer_id)]
    client = Client()
    client.force_login(eve)
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    port = free_port()
    web = Web(environment(port), port, tmp_path / "web.log")
    try:
        web.start()
        visitors = [
            Visitor(web.url, cookie, random.Random(chance.random()), known) for _ in range(SOCKETS)
        ]
        process = psutil.Process(web.process.pid)

        async def talk() -> tuple[int, int, list[dict[str, Any]]]:
            await asyncio.gather(*(visitor.send(WARM // SOCKETS) for visitor in visitors))
            before = process.memory_info().rss
            rest = (MESSAGES - WARM) // SOCKETS
            await asyncio.gather(*(visitor.send(rest) for visitor in visitors))
            grown = process.memory_info().rss - before
            for visitor in visitors:
                if visitor.socket is not None:
                    await visitor.socket.close()
            return grown, process.num_fds(), await visitors[0].ask()

        grown, files, frames = asyncio.run(talk())
        assert web.process.poll() is None
        assert frames[-1]["type"] == "done", frames[-1]
        assert grown < GROWTH_BYTES, f"{grown / 2**20:.0f} MB more"
        assert files < 200
        assert 1006 not in set().union(*(visitor.codes for visitor in visitors))
        assert "Traceback" not in web.logged()
    finally:
        web.end()
    wait_until_at_rest()
