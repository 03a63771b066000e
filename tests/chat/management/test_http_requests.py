"""Limits of HTTP requests and responses, by the bytes of a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from daphne import server as daphne_server
from pytest_django import Settings
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from chat.management.commands.web import DrainingServer
from chat.management.http_requests import SLACK_BYTES, LimitedFactory, LimitedRequest

LIMIT = 1000 + SLACK_BYTES


class Connection:
    """A client's connection to a server that notes which requests reach the site."""

    def __init__(self) -> None:
        self.reached: list[tuple[LimitedRequest, dict[str, Any]]] = []
        self.ended = False
        server = SimpleNamespace(
            protocol_connected=lambda request: None,
            protocol_disconnected=lambda request: None,
            create_application=self.reach,
            proxy_forwarded_address_header=None,
            root_path="",
            request_buffer_size=8192,
            server_name="ragsite",
            log_action=lambda *args: None,
        )
        self.transport = StringTransport()
        self.channel = LimitedFactory(server).buildProtocol(None)
        self.channel.makeConnection(self.transport)

    def reach(self, request: LimitedRequest, scope: dict[str, Any]) -> asyncio.Queue[Any]:
        self.reached.append((request, scope))
        return asyncio.Queue()

    def send(self, data: bytes) -> bytes:
        """Send bytes, return all that was answered so far."""
        self.channel.dataReceived(data)
        answered: bytes = self.transport.value()
        return answered

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self.channel.connectionLost(Failure(ConnectionDone()))


Connect = Callable[[], Connection]


@pytest.fixture
def connect(closings: list[Any]) -> Iterator[Connect]:
    """Make connections, and end them."""
    made: list[Connection] = []

    def connect() -> Connection:
        made.append(Connection())
        return made[-1]

    yield connect
    for connection in made:
        connection.end()


@pytest.fixture(autouse=True)
def closings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Note what is to be called later, instead of waiting."""
    settings.UPLOAD_MAX_REQUEST_BYTES = 1000
    later: list[Any] = []

    def call_later(seconds: float, function: Any) -> Any:
        later.append(function)
        return SimpleNamespace(active=lambda: True, cancel=lambda: later.remove(function))

    reactor = SimpleNamespace(callLater=call_later)
    monkeypatch.setattr(daphne_server, "reactor", reactor)
    return later


def head(*headers: str) -> bytes:
    lines = ["POST /admin/ HTTP/1.1", "Host: localhost", *headers, "", ""]
    return "\r\n".join(lines).encode()


async def test_request_within_the_limit_reaches_the_site(connect: Connect) -> None:
    connection = connect()
    answer = connection.send(head(f"Content-Length: {LIMIT}") + b"x" * LIMIT)
    assert answer == b""
    assert [scope["path"] for _, scope in connection.reached] == ["/admin/"]


async def test_request_that_says_it_is_too_large_is_refused_unread(
    connect: Connect, closings: list[Any]
) -> None:
    connection = connect()
    answer = connection.send(head(f"Content-Length: {LIMIT + 1}"))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert answer.endswith(b"\r\n\r\nThis is more than can be uploaded at once.\n")
    (request,) = connection.channel._channel.requests
    connection.send(b"x" * (LIMIT + 1))
    assert request.content.tell() == 0
    assert not connection.reached
    closings[0]()
    assert connection.transport.disconnecting


async def test_request_of_unknown_length_is_cut_off(connect: Connect, closings: list[Any]) -> None:
    connection = connect()
    connection.send(head("Transfer-Encoding: chunked"))
    piece = b"40000\r\n" + b"x" * 0x40000 + b"\r\n"
    for _ in range(LIMIT // 0x40000):
        assert connection.send(piece) == b""
    assert connection.send(piece).count(b"413 Content Too Large") == 1
    assert connection.send(piece).count(b"413 Content Too Large") == 1
    connection.send(b"0\r\n\r\n")
    assert not connection.reached
    connection.end()
    assert not closings


async def test_response_waits_for_a_client_that_does_not_read(connect: Connect) -> None:
    connection = connect()
    connection.send(head("Content-Length: 0"))
    ((request, _),) = connection.reached
    request.handle_reply({"type": "http.response.start", "status": 200, "headers": []})
    request.handle_reply({"type": "http.response.body", "body": b"x", "more_body": True})
    async with asyncio.timeout(5):
        await request.keep_up()
    connection.transport.producer.pauseProducing()
    waiting = asyncio.create_task(request.keep_up())
    await asyncio.sleep(0)
    assert not waiting.done()
    connection.transport.producer.resumeProducing()
    async with asyncio.timeout(5):
        await waiting
    request.handle_reply({"type": "http.response.body", "body": b"y"})
    assert request.producer is None


async def test_nothing_waits_for_a_client_that_has_gone(connect: Connect) -> None:
    connection = connect()
    connection.send(head("Content-Length: 0"))
    ((request, _),) = connection.reached
    request.handle_reply({"type": "http.response.start", "status": 200, "headers": []})
    request.handle_reply({"type": "http.response.body", "body": b"x", "more_body": True})
    connection.transport.producer.pauseProducing()
    waiting = asyncio.create_task(request.keep_up())
    await asyncio.sleep(0)
    connection.end()
    async with asyncio.timeout(5):
        await waiting


def test_server_makes_limited_connections() -> None:
    server = DrainingServer(lambda text: None, application=None, endpoints=["tcp:0"])
    server.http_factory = SimpleNamespace(server=server)
    assert isinstance(server.http_factory, LimitedFactory)
    assert server.http_factory.server is server
