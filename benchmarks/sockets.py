"""What the tools do not measure: the first token after a prefetch, and sockets that do nothing."""

from __future__ import annotations

import asyncio
import json
import statistics
import time

import psutil
from websockets.asyncio.client import ClientConnection, connect

# The fake provider waits this long before its first token.
PROVIDER_SECONDS = 0.1
MODEL = "fake-n20-d5-f100"
# Longer than a person who stops typing waits for the page to send `prefetch`, and for its search.
TYPING_SECONDS = 0.5
OPENING_AT_ONCE = 20
SETTLE_SECONDS = 5


def memory(pid: int) -> int:
    """Return the bytes a server's processes hold in memory."""
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    return sum(each.memory_info().rss for each in family)


async def first_token_after_prefetch(
    url: str, headers: dict[str, str], question: str, times: int
) -> float:
    """Return the median milliseconds to the first token beyond the provider's own."""
    waits = []
    async with connect(url, additional_headers=headers, compression=None) as socket:
        for number in range(times):
            text = f"{question} {number}"
            await socket.send(json.dumps({"type": "prefetch", "text": text}))
            await asyncio.sleep(TYPING_SECONDS)
            waits.append(await first_token(socket, text))
    return statistics.median(waits) * 1000


async def first_token(socket: ClientConnection, text: str) -> float:
    """Ask, read to the end, and return the seconds to the first token beyond the provider's."""
    asked, first = time.monotonic(), 0.0
    await socket.send(json.dumps({"type": "ask", "text": text, "model": MODEL}))
    while True:
        frame = json.loads(await socket.recv())
        if frame["type"] == "token" and not first:
            first = time.monotonic()
        elif frame["type"] == "error":
            raise RuntimeError(str(frame))
        elif frame["type"] == "done":
            return first - asked - PROVIDER_SECONDS


async def idle_sockets(
    url: str, headers: dict[str, str], pid: int, count: int
) -> tuple[int, float]:
    """Open sockets that send nothing; return how many stayed open, and the bytes they took."""
    before, gate = memory(pid), asyncio.Semaphore(OPENING_AT_ONCE)

    async def opened() -> ClientConnection:
        async with gate:
            return await connect(
                url,
                additional_headers=headers,
                compression=None,
                ping_interval=None,
                open_timeout=60,
            )

    results = await asyncio.gather(*(opened() for _ in range(count)), return_exceptions=True)
    sockets = [each for each in results if isinstance(each, ClientConnection)]
    await asyncio.sleep(SETTLE_SECONDS)
    alive = sum(each.close_code is None for each in sockets)
    taken = memory(pid) - before
    await asyncio.gather(*(each.close() for each in sockets), return_exceptions=True)
    return alive, taken
