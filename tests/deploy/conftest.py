"""Web processes of the real site, which tests may kill, and sockets to them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from websockets.sync.client import ClientConnection, connect

from chat.models import ACTIVE, Run, RunState
from retrieval.text import fulltext
from tests import conversations
from tests.browser.site import ROOT, environment, wait_until_at_rest, wait_until_up
from tests.provider import Answer, Provider
from tests.servers import free_port

FRAME_SECONDS = 20.0
END_SECONDS = 40.0
# What ends at once does so on a busy machine; answers are given 30 seconds to be finished.
SOON_SECONDS = 15.0
TOKEN = "The tower is high [1]. "

Frame = dict[str, Any]


@dataclass
class Web:
    """A web process on a port of its own; it can be killed and started again."""

    environ: dict[str, str]
    port: int
    log: Path
    process: subprocess.Popen[bytes] = field(init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and return when it is healthy."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "web"], cwd=ROOT, env=self.environ, stderr=log
            )
        wait_until_up(self.url, self.process)

    def logged(self) -> str:
        """Return what it has logged."""
        return self.log.read_text()

    def end(self) -> None:
        """End it whatever state it is in."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(END_SECONDS)


class Page:
    """A page's socket, which reads frames and sends messages."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.frames: list[Frame] = []

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def ask(self, text: str = "How high is the tower of Lund?", **fields: Any) -> Frame:
        """Ask, and return the run's first frame."""
        self.send(type="ask", text=text, **fields)
        return self.until("status", "error")

    def until(self, *kinds: str, count: int = 1) -> Frame:
        """Read up to the next frame of one of these types, the `count`th; return it."""
        deadline = time.monotonic() + FRAME_SECONDS
        while count:
            frame = json.loads(self.socket.recv(timeout=deadline - time.monotonic()))
            self.frames.append(frame)
            count -= frame["type"] in kinds
        return self.frames[-1]

    @property
    def text(self) -> str:
        """The answer's text as far as it was read."""
        return "".join(frame["text"] for frame in self.frames if frame["type"] == "token")


@pytest.fixture
def model() -> Iterator[Provider]:
    """Return a provider that is held, and whose answers have no end."""
    server = Provider()
    server.default = Answer(tokens=iter(lambda: TOKEN, None))
    server.start()
    server.hold()
    yield server
    server.stop()


@pytest.fixture
def start_web(
    transactional_db: None, model: Provider, tmp_path: Path
) -> Iterator[Callable[..., Web]]:
    """Return a function that starts a web process, with settings of its own."""
    started: list[Web] = []

    def start(database_port: int | None = None, **changes: str) -> Web:
        port = free_port()
        options = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "test", "ANSWER_THRESHOLD": "0"}
        environ = environment(port, **options, **changes)
        if database_port:
            own = f":{connection.settings_dict['PORT']}/"
            environ["DATABASE_URL"] = environ["DATABASE_URL"].replace(own, f":{database_port}/")
        web = Web(environ, port, tmp_path / f"{port}.log")
        started.append(web)
        web.start()
        return web

    yield start
    for web in started:
        web.end()
        sys.stderr.write(web.logged())  # pytest shows it where a test fails
    # Nobody works any more on what was being answered when its process ended.
    Run.objects.filter(state__in=ACTIVE).update(state=RunState.INTERRUPTED)
    wait_until_at_rest()


@pytest.fixture
def ada(transactional_db: None) -> User:
    """Return someone who may do everything."""
    return conversations.person("ada", is_staff=True, is_superuser=True)


@pytest.fixture
def tower(transactional_db: None) -> None:
    """Make a document of one passage that questions about the tower of Lund find."""
    version = conversations.document("# Towers\n\n## Lund\nThe tower of Lund is 96 metres high.")
    for chunk in version.chunks.all():
        chunk.fulltext = fulltext.document_vector(chunk.text, title="Towers", language="en")
        chunk.save()


@pytest.fixture
def cookie(ada: User) -> str:
    """Return Ada's session as a header."""
    client = Client()
    client.force_login(ada)
    return f"sessionid={client.cookies['sessionid'].value}"


@pytest.fixture
def visit(cookie: str) -> Iterator[Callable[..., Page]]:
    """Return a function that opens Ada's socket at a port; all are closed at the end."""
    with ExitStack() as sockets:

        def open_page(port: int, origin: str | None = None) -> Page:
            socket = connect(
                f"ws://127.0.0.1:{port}/ws/chat/",
                origin=origin or f"http://127.0.0.1:{port}",  # type: ignore[arg-type]
                additional_headers={"Cookie": cookie},
            )
            return Page(sockets.enter_context(socket))

        yield open_page
