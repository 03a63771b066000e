"""One browser tab of a soak: a socket that comes back, and the answers as they stand in it."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from benchmarks.soak_journal import Answer, Asked, Journal, WireFrame
from benchmarks.soak_site import Web

# Longer than a lease, a drain, and all attempts at a provider.
STUCK_SECONDS = 60.0
OPEN_SECONDS = 20.0
# The page acknowledges now and then.
ACK_FRAMES = 16


class Tab:
    """A page, which reads whatever comes and connects to another process when it is cut off."""

    def __init__(self, webs: list[Web], cookie: str, journal: Journal, rng: random.Random) -> None:
        self.webs = webs
        self.cookie = cookie
        self.journal = journal
        self.rng = rng
        self.answers: dict[str, Answer] = {}
        self.begun: dict[str, Answer] = {}
        self.refusals: dict[str, WireFrame] = {}
        self.asking: Asked | None = None
        self.repeats = 0
        self.port = 0
        self._changed = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None
        self._coming_back = asyncio.Lock()

    @property
    def is_lost(self) -> bool:
        """Whether there is no socket."""
        return self._reading is None or self._reading.done()

    async def open(self) -> None:
        """Connect to any process but the last one, until one takes it."""
        await self.close()
        limit = time.monotonic() + STUCK_SECONDS
        while True:
            port = self.rng.choice([web.port for web in self.webs if web.port != self.port])
            self.port = port
            try:
                self._socket = await connect(
                    f"ws://127.0.0.1:{port}/ws/chat/",
                    additional_headers={
                        "Cookie": self.cookie,
                        "Origin": f"http://127.0.0.1:{port}",
                    },
                    compression=None,
                    open_timeout=OPEN_SECONDS,
                )
            except (OSError, InvalidHandshake, ConnectionClosed, TimeoutError):
                if time.monotonic() > limit:
                    raise
                await asyncio.sleep(self.rng.uniform(0.05, 0.3))
            else:
                self._reading = asyncio.create_task(self._read(self._socket))
                return

    async def close(self, *, cut: bool = False) -> None:
        """Close the socket as a page does that is left; `cut` as a network does that is gone."""
        if self._socket is None or self._reading is None:
            return
        if cut:
            self._socket.transport.abort()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        if not cut:
            await self._socket.close()
        self._socket = self._reading = None

    async def send(self, **message: Any) -> None:
        """Send a message; one that is lost with its socket is sent again by whoever waits."""
        if self._socket is not None:
            with suppress(ConnectionClosed):
                await self._socket.send(json.dumps(message))

    async def _read(self, socket: ClientConnection) -> None:
        try:
            async for raw in socket:
                frame = json.loads(raw)
                self.journal.frames += 1
                self._take(frame)
                if frame["seq"] and not frame["seq"] % ACK_FRAMES:
                    await self.send(type="ack", run=frame["run"], seq=frame["seq"])
        except ConnectionClosed:
            pass
        finally:
            self._changed.set()

    def _take(self, frame: WireFrame) -> None:
        self._changed.set()
        run = frame["run"]
        if run is None:
            if frame.get("ask"):
                self.refusals[frame["ask"]] = frame
            else:
                self.journal.problems.append(f"refused: {frame['code']} {frame['message']}")
            return
        answer = self.answers.get(run)
        if answer is None:
            answer = self.follow(run)
            # A run that died before its first frame was saved is known by its snapshot only.
            ask = self.asking
            if ask and (frame.get("ask") == ask.id or frame["type"] == "snapshot"):
                self.begun[ask.id] = answer
                answer.rewinds += self.repeats
        wrong = answer.take(frame)
        if wrong and not answer.wrong:
            answer.wrong = wrong
            self.journal.problems.append(f"run {run} at port {self.port}: {wrong}")

    def follow(self, run: str) -> Answer:
        """Return a run's answer as this tab has it, which is empty to begin with."""
        if run not in self.answers:
            self.answers[run] = Answer(run)
            self.journal.answers.append(self.answers[run])
        return self.answers[run]

    async def come_back(self) -> None:
        """Open a socket in place of one that is gone, and go on with what has not ended."""
        async with self._coming_back:
            if not self.is_lost:
                return
            gone = time.monotonic()
            self.journal.did["reconnect"] += 1
            await self.open()
            for answer in self.answers.values():
                if answer.ending is None:
                    await self.resume(answer)
                    answer.away_seconds = max(answer.away_seconds, time.monotonic() - gone)

    async def until(
        self,
        condition: Callable[[], object],
        what: str,
        again: Callable[[], Awaitable[None]] | None = None,
    ) -> bool:
        """Wait for something; on a new socket, do `again` what it takes. False if it is stuck."""
        limit, socket = time.monotonic() + STUCK_SECONDS, self._socket
        while not condition():
            if self.is_lost:
                await self.come_back()
            if self._socket is not socket:
                socket = self._socket
                if again:
                    await again()
                continue
            if time.monotonic() > limit:
                self.journal.problems.append(f"stuck at port {self.port}: {what}")
                return False
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 1)
        return True

    async def ask(self, asked: Asked, times: int = 1) -> Answer | None:
        """Ask, `times` over, until there is an answer; None if the question is refused."""

        async def send() -> None:
            await self.send(**asked.message())

        self.journal.asked[asked.id] = self.asking = asked
        self.repeats = times - 1
        for _ in range(times):
            await send()
        while True:
            known = await self.until(
                lambda: asked.id in self.begun or asked.id in self.refusals,
                f"question {asked.id} is not taken",
                send,
            )
            if asked.id in self.refusals:
                asked.refused = self.refusals.pop(asked.id)["code"]
                if asked.refused != "draining":
                    return None
                asked.refused = ""
                await self.close()
                await self.come_back()
                await send()
            elif known:
                asked.run = self.begun[asked.id].run
                return self.begun[asked.id]
            else:
                return None

    async def resume(self, answer: Answer) -> None:
        """Go on with an answer behind the last frame that came."""
        await self.send(type="resume", run=answer.run, after=answer.position)

    async def read(self, answer: Answer, frames: int | None = None) -> bool:
        """Read up to a frame's number, or to the end. False if it is stuck."""

        def there() -> bool:
            return answer.ending is not None or (frames is not None and answer.position >= frames)

        return await self.until(there, f"run {answer.run} after frame {answer.position}")
