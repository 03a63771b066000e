"""How much a reader was sent that it has not said it took in.

Daphne's send never waits: for a client that does not read, what is sent piles up in the server's
memory. So sending stops when too much is on the way, and the reader catches up from the run's log
once it acknowledges.
"""

from __future__ import annotations

import asyncio
from collections import deque

# On the way to a client that acknowledges, and to one that never did.
MOST_BYTES = 256 * 1024
MOST_BYTES_UNKNOWN = 4 * 1024 * 1024


class Window:
    """What is on its way to the reader of one run."""

    def __init__(self) -> None:
        self._sent: deque[tuple[int, int]] = deque()
        self._bytes = 0
        self._limit = MOST_BYTES_UNKNOWN
        self._room = asyncio.Event()
        self._room.set()

    def sent(self, seq: int, size: int) -> None:
        """Note that frame number `seq` of `size` bytes was sent."""
        self._sent.append((seq, size))
        self._bytes += size
        if self._bytes > self._limit:
            self._room.clear()

    def acknowledge(self, seq: int) -> None:
        """Note that the client took in all frames up to number `seq`."""
        self._limit = MOST_BYTES
        while self._sent and self._sent[0][0] <= seq:
            self._bytes -= self._sent.popleft()[1]
        if self._bytes <= self._limit:
            self._room.set()

    async def room(self) -> None:
        """Wait until more may be sent."""
        await self._room.wait()
