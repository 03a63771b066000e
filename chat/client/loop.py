"""An event loop in a thread, for programs that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
_END = object()


class LoopThread:
    """Runs coroutines to their end, and asynchronous iterators step by step."""

    def __init__(self) -> None:
        self._ready: Future[asyncio.AbstractEventLoop] = Future()
        self._stop: asyncio.Event | None = None
        self._main: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="RagClient", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        # At its end it cancels what is left, and closes what belongs to the loop.
        asyncio.run(self._serve())

    def settle(self, seconds: float) -> None:
        """Return when nothing is left to do in the loop, or after so many seconds."""
        self.run(self._settled(seconds))

    async def _settled(self, seconds: float) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task(), self._main}
        if left:
            await asyncio.wait(left, timeout=seconds)

    async def _serve(self) -> None:
        self._main = asyncio.current_task()
        self._stop = asyncio.Event()
        self._ready.set_result(asyncio.get_running_loop())
        await self._stop.wait()

    @property
    def is_closed(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop that runs."""
        return self._ready.result()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine returns; it is cancelled if the wait for it is interrupted."""
        if self.is_closed:
            work.close()
            raise RuntimeError("This client is closed.")
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def iterate(self, source: AsyncGenerator[T]) -> Iterator[T]:
        """Yield what an asynchronous generator yields; it is closed wherever the reader stops."""
        # A step that was interrupted is over before its generator is closed.
        step = asyncio.Lock()
        try:
            while (item := self.run(_next(source, step))) is not _END:
                yield item  # type: ignore[misc]
        finally:
            if not self.is_closed:
                self.run(_close(source, step))

    def close(self) -> None:
        """End the thread; closing twice is nothing."""
        if not self.is_closed:
            loop = self.loop
            assert self._stop is not None  # noqa: S101 - it is there as soon as the loop is
            loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()


async def _next(source: AsyncGenerator[T], step: asyncio.Lock) -> T | object:
    async with step:
        return await anext(source, _END)


async def _close(source: AsyncGenerator[Any], step: asyncio.Lock) -> None:
    async with step:
        await source.aclose()
