"""One object for each event loop: clients and pools whose connections belong to a loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary, WeakSet

T = TypeVar("T")


class PerLoop(Generic[T]):
    """What is opened at first use in a loop, and closed by `aclose` or with the loop.

    There is no start-up hook to open clients in. What is opened is held by an asynchronous
    generator, because asyncio closes those before it closes their loop
    (`loop.shutdown_asyncgens`).
    """

    instances: ClassVar[WeakSet[PerLoop[Any]]] = WeakSet()

    def __init__(self, open_: Callable[[], T], close: Callable[[T], Awaitable[object]]) -> None:
        self._open = open_
        self._close = close
        self._held: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[T]]] = (
            WeakKeyDictionary()
        )
        self.instances.add(self)

    async def get(self) -> T:
        """Return what the running loop has."""
        loop = asyncio.get_running_loop()
        if loop not in self._held:
            holder = self._hold()
            # The generator runs to its yield without waiting: no other task can come between.
            self._held[loop] = await anext(holder), holder
        return self._held[loop][0]

    async def aclose(self) -> None:
        """Close what the running loop has, if anything."""
        if held := self._held.pop(asyncio.get_running_loop(), None):
            await held[1].aclose()

    async def _hold(self) -> AsyncGenerator[T]:
        opened = self._open()
        try:
            yield opened
        finally:
            await self._close(opened)


async def open_all() -> None:
    """Open everything for the running loop, so that nobody waits for it later."""
    for each in tuple(PerLoop.instances):
        await each.get()


async def aclose() -> None:
    """Close everything of the running loop; the next use opens it anew."""
    for each in tuple(PerLoop.instances):
        await each.aclose()
