"""The site of a soak: several web processes behind one Redis, which can be killed and started."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError

from benchmarks import servers
from benchmarks.soak_journal import Journal

PROCESSES = 3
GRACE_SECONDS = 5.0
# Longer than any answer takes: a process that is told to end interrupts none.
DRAIN_SECONDS = 30.0
METRICS_TOKEN = "soak"


@dataclass
class Web:
    """A web process on a port of its own."""

    port: int
    log: Path
    environment: dict[str, str]
    process: subprocess.Popen[bytes] = field(init=False)

    @property
    def http(self) -> str:
        """Its address for HTTP."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, and return when it is healthy. Raises RuntimeError if it does not get so."""
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - forks, and returns at once
                [sys.executable, "manage.py", "web"],
                cwd=servers.ROOT,
                env=os.environ | self.environment | {"PORT": str(self.port)},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        limit = time.monotonic() + servers.START_SECONDS
        while not await asyncio.to_thread(self.is_healthy):
            if time.monotonic() > limit or self.process.poll() is not None:
                raise RuntimeError(f"no web process: {self.log.read_text()[-2000:]}")
            await asyncio.sleep(0.2)

    def is_healthy(self) -> bool:
        """Whether it answers."""
        try:
            with urllib.request.urlopen(f"{self.http}/healthz", timeout=5) as response:
                return bool(response.status == 200)
        except (URLError, OSError):
            return False

    async def end(self, number: signal.Signals) -> int | None:
        """Send a signal, and return the status it ended with; None if it does not end."""
        self.process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            return await asyncio.to_thread(self.process.wait, DRAIN_SECONDS + servers.STOP_SECONDS)
        self.process.kill()
        await asyncio.to_thread(self.process.wait)
        return None

    def measure(self, name: str) -> float:
        """Return what a metric of it says."""
        request = urllib.request.Request(
            f"{self.http}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            for line in response.read().decode().splitlines():
                if line.startswith(f"{name} "):
                    return float(line.split()[1])
        raise LookupError(name)


@contextmanager
def site(folder: Path, redis_url: str) -> Iterator[list[Web]]:
    """Run the web processes, and end them."""
    environment = {
        "REDIS_URL": redis_url,
        "RUN_GRACE_SECONDS": str(GRACE_SECONDS),
        "DRAIN_SECONDS": str(DRAIN_SECONDS),
        "METRICS_TOKEN": METRICS_TOKEN,
        "LOG_FORMAT": "json",
    }
    webs = [
        Web(servers.free_port(), folder / f"web-{number}.log", environment)
        for number in range(PROCESSES)
    ]

    async def start() -> None:
        for web in webs:  # the first prepares the database
            await web.start()

    try:
        asyncio.run(start())
        yield webs
    finally:
        for web in webs:
            if hasattr(web, "process"):
                web.process.kill()
                web.process.wait()


async def disturb(
    webs: list[Web], journal: Journal, rng: random.Random, pause: float, until: float
) -> None:
    """Kill or drain a process every `pause` seconds or so, and start it again; never the first."""
    while True:
        await asyncio.sleep(pause * rng.uniform(0.6, 1.4))
        if time.monotonic() > until:
            return
        web = rng.choice(webs[1:])
        if rng.random() < 0.5:
            journal.did["kill"] += 1
            journal.killed.add(web.process.pid)
            await web.end(signal.SIGKILL)
        else:
            journal.did["drain"] += 1
            if (status := await web.end(signal.SIGTERM)) != 0:
                journal.problems.append(f"a process that was to drain ended with {status}")
        await asyncio.sleep(rng.uniform(0, 3))
        await web.start()
