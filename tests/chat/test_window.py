"""A reader that does not take in what it is sent is held back."""

import asyncio

import pytest

from chat.window import MOST_BYTES, MOST_BYTES_UNKNOWN, Window


async def has_room(window: Window) -> bool:
    waiting = asyncio.ensure_future(window.room())
    await asyncio.sleep(0)
    done = waiting.done()
    waiting.cancel()
    return done


async def test_there_is_room_at_first() -> None:
    assert await has_room(Window())


async def test_too_much_on_the_way_closes_it() -> None:
    window = Window()
    window.acknowledge(0)
    window.sent(1, MOST_BYTES)
    assert await has_room(window)
    window.sent(2, 1)
    assert not await has_room(window)


async def test_acknowledging_opens_it_again() -> None:
    window = Window()
    window.acknowledge(0)
    for seq in (1, 2, 3):
        window.sent(seq, MOST_BYTES)
    window.acknowledge(1)
    assert not await has_room(window)
    window.acknowledge(3)
    assert await has_room(window)


@pytest.mark.parametrize(
    ("size", "room"), [(MOST_BYTES + 1, True), (MOST_BYTES_UNKNOWN + 1, False)]
)
async def test_a_client_that_never_acknowledges_gets_more_but_not_without_end(
    size: int, room: bool
) -> None:
    window = Window()
    window.sent(1, size)
    assert await has_room(window) is room
