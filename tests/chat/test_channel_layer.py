"""What processes tell each other through a real Redis, and what goes on without it."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from pytest_django import Settings

from chat import channel_layer
from chat.channel_layer import RelayedChannelLayer
from tests.servers import Server

MESSAGE = {"type": "run.started", "run": "1"}


class Process(RelayedChannelLayer):
    """A layer as a process of its own would have it, with one channel in one group."""

    def __init__(self, server: Server) -> None:
        super().__init__(f"redis://127.0.0.1:{server.port}")
        self.missed = asyncio.Event()

    async def open(self) -> None:
        self.channel = await self.new_channel()
        await self.group_add("towers", self.channel)

    def note_loss(self, error: Exception) -> None:
        super().note_loss(error)
        self.missed.set()

    async def hears(self) -> dict[str, Any]:
        return await asyncio.wait_for(self.receive(self.channel), 10)


@pytest.fixture
async def two(redis: Server, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[Process]]:
    monkeypatch.setattr(channel_layer, "RETRY_SECONDS", 0.05)
    layers = []
    for name in ("one", "two"):
        layer = Process(redis)
        layer.process = name
        await layer.open()
        layers.append(layer)
    for layer in layers:
        await asyncio.wait_for(layer.heard.wait(), 10)
    yield layers
    for layer in layers:
        await layer.aclose()


async def test_what_one_process_says_is_heard_once_in_each(two: list[Process]) -> None:
    one, other = two
    await one.group_send("towers", MESSAGE)
    assert await other.hears() == MESSAGE
    await other.group_send("towers", {"type": "second"})
    assert await one.hears() == MESSAGE
    assert await one.hears() == {"type": "second"}


async def test_sites_with_another_key_are_not_heard(
    two: list[Process], redis: Server, settings: Settings
) -> None:
    settings.SECRET_KEY = "another"
    stranger = Process(redis)
    await stranger.group_send("towers", {"type": "strange"})
    await stranger.aclose()
    await two[0].group_send("towers", MESSAGE)
    assert await two[1].hears() == MESSAGE


async def test_without_redis_each_process_goes_on_by_itself_and_says_so_once(
    two: list[Process], redis: Server, caplog: pytest.LogCaptureFixture
) -> None:
    one, _ = two
    await asyncio.to_thread(redis.stop)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            await one.group_send("towers", MESSAGE)
            assert await one.hears() == MESSAGE
        await one.group_add("more", await one.new_channel())
    assert sum("Redis is away" in line for line in caplog.messages) <= len(two)


async def test_processes_hear_each_other_again_when_redis_is_back(
    two: list[Process], redis: Server
) -> None:
    one, other = two
    await asyncio.to_thread(redis.stop)
    await one.group_send("towers", MESSAGE)
    for process in two:
        await asyncio.wait_for(process.missed.wait(), 10)
    await asyncio.to_thread(redis.start)
    for process in two:
        await asyncio.wait_for(process.heard.wait(), 10)
    await one.group_send("towers", {"type": "back"})
    assert await other.hears() == {"type": "back"}


async def test_a_redis_that_accepts_but_never_answers_holds_nobody_up_and_is_told_once(
    two: list[Process], redis: Server, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = two
    redis.freeze()
    with caplog.at_level(logging.WARNING):
        started = time.monotonic()
        for _ in range(20):
            await one.group_send("towers", MESSAGE)
            assert await one.hears() == MESSAGE
        assert time.monotonic() - started < channel_layer.ANSWER_SECONDS
        for layer in two:
            await asyncio.wait_for(layer.missed.wait(), 10)
        for _ in range(2):  # it has tried again, in vain
            two[0].missed.clear()
            await asyncio.wait_for(two[0].missed.wait(), 10)
    assert sum("Redis is away" in line for line in caplog.messages) == len(two)
    assert "Redis is back" not in caplog.messages
    redis.thaw()
    for layer in two:
        await asyncio.wait_for(layer.heard.wait(), 10)
    await one.group_send("towers", {"type": "back"})
    while (said := await other.hears()) == MESSAGE:
        pass  # what Redis had taken in before it was frozen
    assert said == {"type": "back"}


async def test_a_command_does_not_wait_for_a_redis_that_never_answers(redis: Server) -> None:
    redis.freeze()
    command = Process(redis)
    started = time.monotonic()
    await command.group_send("towers", MESSAGE)
    assert time.monotonic() - started < channel_layer.ANSWER_SECONDS + 1
    assert command.lost


async def test_a_process_ends_at_once_though_redis_never_answers(
    two: list[Process], redis: Server
) -> None:
    redis.freeze()
    await two[0].group_send("towers", MESSAGE)
    started = time.monotonic()
    await two[0].aclose()
    assert time.monotonic() - started < channel_layer.ANSWER_SECONDS + 1


async def test_what_was_said_right_before_the_end_is_heard(two: list[Process]) -> None:
    one, other = two
    await one.group_send("towers", MESSAGE)
    await one.aclose()
    assert await other.hears() == MESSAGE


async def test_it_closes_though_the_client_takes_a_cancellation_for_a_timeout(
    redis: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel_layer, "ANSWER_SECONDS", 0.1)
    layer = Process(redis)
    await layer.open()

    async def publish(*said: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise TimeoutError from None

    monkeypatch.setattr(layer.redis, "publish", publish)
    await layer.group_send("towers", MESSAGE)
    async with asyncio.timeout(5):
        await layer.aclose()


async def test_a_process_starts_without_redis(redis: Server) -> None:
    redis.stop()
    layer = Process(redis)
    await layer.open()
    await layer.group_send("towers", MESSAGE)
    assert await layer.hears() == MESSAGE
    await layer.aclose()


async def test_a_command_speaks_to_processes_from_a_loop_of_its_own_each_time(
    two: list[Process], redis: Server
) -> None:
    command = Process(redis)
    command.process = "command"

    def speak() -> None:
        for number in range(2):
            async_to_sync(command.group_send)("towers", {"type": str(number)})

    thread = threading.Thread(target=speak)
    thread.start()
    assert [(await two[0].hears())["type"] for _ in range(2)] == ["0", "1"]
    await asyncio.to_thread(thread.join)
