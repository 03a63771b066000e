"""Connections that one process accepts and others serve."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import pytest

from chat.management.handover import Giver, Taker


class Serving:
    """Somebody who takes connections, and keeps them."""

    def __init__(self, giver: Giver) -> None:
        self.ours, theirs = socket.socketpair()
        giver.add(self.ours)
        self.taken: asyncio.Queue[socket.socket] = asyncio.Queue()
        self.is_alone = asyncio.Event()
        self.taker = Taker(theirs, self.serve, self.is_alone.set)

    def start(self) -> None:
        self.taker.start(asyncio.get_running_loop())

    def serve(self, connection: socket.socket) -> None:
        self.taken.put_nowait(connection.dup())

    async def take(self, count: int = 1) -> None:
        """Wait until so many connections were taken."""
        async with asyncio.timeout(5):
            for _ in range(count):
                (await self.taken.get()).close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as listening:
        yield listening


@pytest.fixture
async def giver(listener: socket.socket) -> AsyncIterator[Giver]:
    giver = Giver(listener, 2)
    giving = asyncio.create_task(giver.give())
    yield giver
    giving.cancel()
    await asyncio.gather(giving, return_exceptions=True)


@pytest.fixture
async def takers(giver: Giver) -> AsyncIterator[list[Serving]]:
    """Return two, neither of which is ready."""
    takers = [Serving(giver) for _ in range(2)]
    yield takers
    loop = asyncio.get_running_loop()
    for each in takers:
        for end in (each.ours, each.taker.channel):
            if end.fileno() >= 0:
                loop.remove_reader(end)
                end.close()


@pytest.fixture
async def ready(giver: Giver, takers: list[Serving]) -> list[Serving]:
    """Return both when they are ready."""
    for each in takers:
        each.start()
    async with asyncio.timeout(5):
        await giver.is_ready.wait()
    return takers


@contextlib.contextmanager
def connected(giver: Giver, count: int = 1) -> Iterator[None]:
    """Hold so many connections."""
    with contextlib.ExitStack() as clients:
        for _ in range(count):
            address = giver.listener.getsockname()
            clients.enter_context(socket.create_connection(address, timeout=5))
        yield


async def test_each_takes_in_turn(giver: Giver, ready: list[Serving]) -> None:
    with connected(giver, 20):
        for taker in ready:
            await taker.take(10)


async def test_what_is_taken_is_the_connection(giver: Giver, ready: list[Serving]) -> None:
    reader, writer = await asyncio.open_connection(*giver.listener.getsockname())
    with await ready[0].taken.get() as connection:
        connection.sendall(b"hello")
        assert await reader.readexactly(5) == b"hello"
    writer.close()
    await writer.wait_closed()


async def test_one_that_is_not_ready_gets_nothing(giver: Giver, takers: list[Serving]) -> None:
    takers[1].start()
    with connected(giver, 4):
        await takers[1].take(4)


async def test_one_that_has_ended_is_passed_over(giver: Giver, ready: list[Serving]) -> None:
    ready[0].taker.stopListening()
    with connected(giver, 4):
        await ready[1].take(4)


async def test_a_connection_waits_until_somebody_is_ready(
    giver: Giver, takers: list[Serving]
) -> None:
    with connected(giver):
        await asyncio.sleep(0.1)
        assert giver.is_deserted.is_set()
        assert not giver.is_ready.is_set()
        takers[0].start()
        await takers[0].take()
        assert not giver.is_deserted.is_set()


async def test_when_the_last_stops_nobody_is_left(giver: Giver, ready: list[Serving]) -> None:
    ready[0].taker.stopListening()
    with connected(giver):
        await ready[1].take()
    assert not giver.is_deserted.is_set()
    ready[1].taker.stopListening()
    async with asyncio.timeout(5):
        await giver.is_deserted.wait()


async def test_those_who_are_busy_get_theirs_later(
    giver: Giver, ready: list[Serving], monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, refused = asyncio.get_running_loop(), asyncio.Event()
    is_taken = giver.is_taken

    def observed(connection: socket.socket) -> bool:
        if not (taken := is_taken(connection)):
            refused.set()
        return taken

    monkeypatch.setattr(giver, "is_taken", observed)
    for each in ready:
        loop.remove_reader(each.taker.channel)
    with connected(giver, 800):
        async with asyncio.timeout(5):
            await refused.wait()
        for each in ready:
            loop.add_reader(each.taker.channel, each.taker.take)
        for each in ready:
            await each.take(390)
        async with asyncio.timeout(5):
            while sum(each.taken.qsize() for each in ready) < 20:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        for each in ready:
            await each.take(each.taken.qsize())


@pytest.mark.parametrize("stopped", [False, True])
async def test_who_takes_or_took_learns_that_the_giver_has_ended(
    giver: Giver, ready: list[Serving], stopped: bool
) -> None:
    if stopped:
        for each in ready:
            each.taker.stopListening()
        async with asyncio.timeout(5):
            await giver.is_deserted.wait()
        assert not ready[0].is_alone.is_set()
    giver.remove(ready[0].ours)
    async with asyncio.timeout(5):
        await ready[0].is_alone.wait()
    assert not ready[1].is_alone.is_set()
    ready[0].taker.stopListening()


async def test_what_was_given_before_it_stopped_is_taken(
    giver: Giver, ready: list[Serving]
) -> None:
    loop = asyncio.get_running_loop()
    for each in ready:
        loop.remove_reader(each.taker.channel)
    with connected(giver, 2):
        async with asyncio.timeout(5):
            for each in ready:
                await readable(each.taker.channel)
        for each in ready:
            each.taker.stopListening()
            loop.add_reader(each.taker.channel, each.taker.take)
        for each in ready:
            await each.take()


async def readable(channel: socket.socket) -> None:
    """Wait until there is something to read."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(channel, event.set)
    await event.wait()
    loop.remove_reader(channel)
