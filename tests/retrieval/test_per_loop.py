"""Clients and pools that belong to an event loop."""

import asyncio

from retrieval import per_loop
from retrieval.per_loop import PerLoop


class Recorder:
    """Counts what is opened and closed."""

    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0

    def open(self) -> int:
        self.opened += 1
        return self.opened

    async def close(self, opened: int) -> None:
        self.closed += 1


def test_each_loop_has_its_own_which_is_closed_with_it() -> None:
    recorder = Recorder()
    held = PerLoop(recorder.open, recorder.close)

    async def twice() -> tuple[int, int]:
        return await held.get(), await held.get()

    assert asyncio.run(twice()) == (1, 1)
    assert recorder.closed == 1
    assert asyncio.run(twice()) == (2, 2)
    assert recorder.closed == 2


async def test_aclose_closes_and_the_next_call_opens_anew() -> None:
    recorder = Recorder()
    held = PerLoop(recorder.open, recorder.close)
    await held.get()
    await per_loop.aclose()
    assert recorder.closed == 1
    assert await held.get() == 2


async def test_all_can_be_opened_ahead() -> None:
    recorder = Recorder()
    held = PerLoop(recorder.open, recorder.close)
    await per_loop.open_all()
    assert recorder.opened == 1
    assert await held.get() == 1
