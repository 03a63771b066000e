"""The site's processes, started and ended together."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable
from typing import Any

from django.conf import settings

logger = logging.getLogger(__name__)

# What a process may take to end before it is killed, beside the time for answers to end.
END_SECONDS = 20.0
# What ends is started again after this long, twice as long each time it ends soon again.
RESTART_SECONDS = (1.0, 30.0)
# The site ends when its web server has ended so often, each time soon after its start.
QUICK_ENDS = 5
# Signals that come together are one: a process that is killed sends its children one for each of
# its threads (WITH_PARENT).
TOGETHER_SECONDS = 0.2
# How often the embedded database is looked at.
LOOK_SECONDS = 1.0
# Where it exists (Linux), processes end even if this one is killed.
WITH_PARENT = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []


class Supervisor:
    """Keeps the web server, the worker and the embedded database running until a signal."""

    def __init__(
        self, host: str, port: int, keep_database: Callable[[], bool] | None = None
    ) -> None:
        """Call `keep_database`, if there is one, to start what has ended of the database."""
        self.address = (host, port)
        self.start_database = keep_database
        self.processes: set[Process] = set()
        self.signalled = asyncio.Event()
        self.hurried = False
        self.web: Process | None = None
        self.has_listened = False
        # What the web server is told to end with; while it starts it knows only this one.
        self.signal = signal.SIGTERM

    async def run(self, announce: Callable[[], None]) -> int | None:
        """Run all, calling `announce` when the web server first listens.

        Returns None after a signal, otherwise the status of a web server that ended before it
        listened, or too often.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.interrupt, number)
        web = asyncio.create_task(self.keep_web(), name="web")
        listening = asyncio.create_task(self.listening(), name="listening")
        ends: set[asyncio.Task[Any]] = {asyncio.create_task(self.signalled.wait()), web}
        tasks = {listening, *ends}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                self.has_listened = True
                announce()
                # Not before: on the first start, the web server prepares the model.
                tasks.add(asyncio.create_task(self.keep_worker(), name="worker"))
                tasks.add(asyncio.create_task(self.keep_database(), name="database"))
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                self.signal = signal.SIGINT if self.hurried else signal.SIGTERM
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*map(self.end, self.processes))
        return None if self.signalled.is_set() else web.result()

    def interrupt(self, number: signal.Signals) -> None:
        """End in order on the first signal, at once on the second.

        On Ctrl-C, or when the terminal is closed, the web server hardly waits for answers.
        """
        if self.signalled.is_set():
            for process in self.processes:
                process.kill()
        self.hurried = number != signal.SIGTERM
        self.signalled.set()

    async def start(self, *arguments: str) -> Process:
        """Start a management command, out of reach of the terminal's Ctrl-C; it logs to ours."""
        process = await asyncio.create_subprocess_exec(
            *WITH_PARENT, sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments,
            stdin=DEVNULL, stdout=DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.processes.add(process)
        return process

    async def keep_web(self) -> int:
        """Start the web server whenever it is not running; return its status to give it up."""
        pause = Pause()
        while True:
            self.web = await self.start("web", "--verbosity=0")
            status = await self.ended(self.web)
            pause.note_end()
            if not self.has_listened or pause.quick_ends == QUICK_ENDS:
                return status
            logger.error("The web server %s; starting it again.", how(status))
            await pause.wait()

    async def keep_worker(self) -> None:
        """Start the worker whenever it is not running: without it questions are answered still."""
        pause = Pause()
        while True:
            status = await self.ended(await self.start("worker", "--verbosity=0"))
            pause.note_end()
            logger.error("The worker %s; starting it again.", how(status))
            await pause.wait()

    async def ended(self, process: Process) -> int:
        """Wait until a process has ended by itself; return its status."""
        status = await process.wait()
        self.processes.discard(process)
        return status

    async def keep_database(self) -> None:
        """Start the embedded database whenever it is not running."""
        pause = Pause()
        while self.start_database:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                if await asyncio.to_thread(self.start_database):
                    logger.error("PostgreSQL had ended; it runs again.")
            except Exception:  # what the database is, and how it fails, is not known here
                logger.exception("PostgreSQL has ended, and cannot be started")
                pause.note_end()
                await pause.wait()

    async def listening(self) -> None:
        """Return when the web server accepts connections."""
        while True:
            try:
                _, writer = await asyncio.open_connection(*self.address)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return

    async def end(self, process: Process) -> None:
        """Ask a process to end, and kill it if it does not within the limit."""
        if process.returncode is not None:
            return
        process.send_signal(self.signal if process is self.web else signal.SIGTERM)
        try:
            async with asyncio.timeout(END_SECONDS + settings.DRAIN_SECONDS):
                await process.wait()
        except TimeoutError:
            logger.warning("Process %d did not end in time and is killed.", process.pid)
            process.kill()
            await process.wait()


class Pause:
    """How long to wait before something is started again: longer each time it ended soon."""

    def __init__(self) -> None:
        self.quick_ends = 0
        self.started = time.monotonic()

    def note_end(self) -> None:
        """Count an end that came soon after the start."""
        lasted = time.monotonic() - self.started
        self.quick_ends = self.quick_ends + 1 if lasted < RESTART_SECONDS[1] else 1

    async def wait(self) -> None:
        """Wait; what is started then is started now."""
        shortest, longest = RESTART_SECONDS
        doubled = 2 ** min(self.quick_ends - 1, 10)
        await asyncio.sleep(min(shortest * doubled, longest))
        self.started = time.monotonic()


def how(status: int) -> str:
    """Say how a process ended."""
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"
