"""Provider clients, one for each event loop, and how long they may wait."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary, WeakSet

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

Client = TypeVar("Client")


class PerLoop(Generic[Client]):
    """A client for each event loop: opened at first use, closed by `aclose` or with the loop.

    There is no start-up hook to open clients in, and a client's connections belong to the loop
    they were opened in. The client is held by an asynchronous generator, because asyncio closes
    those before it closes their loop (`loop.shutdown_asyncgens`).
    """

    instances: ClassVar[WeakSet[PerLoop[Any]]] = WeakSet()

    def __init__(
        self, open_client: Callable[[], Client], close: Callable[[Client], Awaitable[object]]
    ) -> None:
        self._open = open_client
        self._close = close
        self._held: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[Client, AsyncGenerator[Client]]
        ] = WeakKeyDictionary()
        self.instances.add(self)

    async def get(self) -> Client:
        """Return the running loop's client."""
        loop = asyncio.get_running_loop()
        if loop not in self._held:
            holder = self._hold()
            # The generator runs to its yield without waiting: no other task can come between.
            self._held[loop] = await anext(holder), holder
        return self._held[loop][0]

    async def aclose(self) -> None:
        """Close the running loop's client, if it has one."""
        if held := self._held.pop(asyncio.get_running_loop(), None):
            await held[1].aclose()

    async def _hold(self) -> AsyncGenerator[Client]:
        client = self._open()
        try:
            yield client
        finally:
            await self._close(client)


async def aclose() -> None:
    """Close every client of the running loop; the next call of a backend opens a new one."""
    for clients in tuple(PerLoop.instances):
        await clients.aclose()
