from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from chat.client.loop import LoopThread


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    made = LoopThread()
    yield made
    made.close()


class Numbers:
    def __init__(self) -> None:
        self.closed = False

    async def count(self) -> AsyncGenerator[int]:
        try:
            for number in range(3):
                yield number
            raise LookupError
        finally:
            self.closed = True


def test_a_generator_is_read_step_by_step_and_its_error_raised(thread: LoopThread) -> None:
    numbers = Numbers()
    read = []
    with pytest.raises(LookupError):
        for number in thread.iterate(numbers.count()):
            read.append(number)  # noqa: PERF402 - what was read before the error counts
    assert read == [0, 1, 2]


def test_a_generator_is_closed_where_its_reader_stops(thread: LoopThread) -> None:
    numbers = Numbers()
    reader = thread.iterate(numbers.count())
    assert next(reader) == 0
    reader.close()  # type: ignore[attr-defined]
    assert numbers.closed


def test_what_is_closed_runs_nothing(thread: LoopThread) -> None:
    thread.close()
    thread.close()
    reader = thread.iterate(Numbers().count())
    with pytest.raises(RuntimeError, match="closed"):
        next(reader)


def test_an_interrupt_ends_the_step_and_closes_the_generator(
    thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, said = threading.Event(), []

    async def waiting() -> AsyncGenerator[int]:
        try:
            started.set()
            await asyncio.Event().wait()
            yield 1
        finally:
            await asyncio.sleep(0)
            said.append("closed")

    class Interrupted(Future[Any]):
        def result(self, timeout: float | None = None) -> Any:
            raise KeyboardInterrupt

    def interrupted(work: Any, loop: asyncio.AbstractEventLoop) -> Future[Any]:
        monkeypatch.undo()
        future = asyncio.run_coroutine_threadsafe(work, loop)
        future.__class__ = Interrupted
        started.wait(10)
        return future

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(thread.iterate(waiting()))
    assert said == ["closed"]
