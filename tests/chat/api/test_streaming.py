"""Server-Sent Events, as bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from chat.api import streaming


def test_an_event_has_its_name_its_id_and_its_data() -> None:
    assert streaming.event('{"a":1}', event="token", id="3") == (
        b'event: token\nid: 3\ndata: {"a":1}\n\n'
    )


def test_each_line_of_the_data_is_a_line_of_the_event() -> None:
    assert streaming.event("a\nb") == b"data: a\ndata: b\n\n"


def test_json_is_one_line_of_ascii_whatever_it_says() -> None:
    """Readers split lines at more than line feeds."""
    said = streaming.to_json({"text": "å\u2028\u2029\u0085\x0b\x0c\r\n"})
    assert said.isascii()
    assert len(said.splitlines()) == 1


def test_numbers_that_json_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        streaming.to_json({"score": float("nan")})


async def test_a_silent_stream_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.01)
    speak = asyncio.Event()

    async def parts() -> AsyncGenerator[bytes]:
        yield b"one"
        await speak.wait()
        yield b"two"

    async with aclosing(streaming.beating(parts())) as beating:
        assert await anext(beating) == b"one"
        assert await anext(beating) == streaming.comment()
        speak.set()
        assert [part async for part in beating if part != streaming.comment()] == [b"two"]


async def test_leaving_ends_what_is_being_waited_for() -> None:
    closed = asyncio.Event()

    async def parts() -> AsyncGenerator[bytes]:
        try:
            yield b"one"
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with aclosing(streaming.beating(parts())) as beating:
        await anext(beating)
        waiting = asyncio.ensure_future(anext(beating))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert closed.is_set()


async def test_a_part_that_fails_ends_the_response(caplog: pytest.LogCaptureFixture) -> None:
    """What was sent stays; whoever serves it would leave it open."""
    closed = []

    async def parts() -> AsyncGenerator[bytes]:
        try:
            yield b"one"
            raise RuntimeError("secret detail")
        finally:
            closed.append(True)

    response = streaming.Stream(parts())
    assert [part async for part in response] == [b"one"]
    assert closed
    assert "A response broke off" in caplog.text
