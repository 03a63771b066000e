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

from django.conf import settings

logger = logging.getLogger(__name__)

# What a process may take to end before it is killed, beside the time for answers to end.
END_SECONDS = 20.0
# The worker is started again after this long, twice as long each time it ends at once.
RESTART_SECONDS = (1.0, 30.0)
# Where it exists (Linux), processes end even if this one is killed.
WITH_PARENT = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []


class Supervisor:
    """Runs the web server and the worker until a signal, or until the web server ends."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        self.processes: set[Process] = set()
        self.signalled = asyncio.Event()
        self.hurried = False
        self.web: Process | None = None
        # What the web server is told to end with; while it starts it knows only this one.
        self.signal = signal.SIGTERM

    async def run(self, announce: Callable[[], None]) -> int | None:
        """Run both, calling `announce` when the web server listens.

        Returns None after a signal, the web server's exit status if it ended by itself.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.interrupt, number)
        self.web = web = await self.start("web", "--verbosity=0")
        listening = asyncio.create_task(self.listening(), name="listening")
        ends = {asyncio.create_task(self.signalled.wait()), asyncio.create_task(web.wait())}
        tasks = {listening, *ends}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                announce()
                # Not before: on the first start, the web server prepares the model.
                tasks.add(asyncio.create_task(self.keep_worker(), name="worker"))
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                self.signal = signal.SIGINT if self.hurried else signal.SIGTERM
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*map(self.end, self.processes))
        return None if self.signalled.is_set() else web.returncode

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

    async def keep_worker(self) -> None:
        """Start the worker whenever it is not running."""
        shortest, longest = RESTART_SECONDS
        delay = shortest
        while True:
            started = time.monotonic()
            worker = await self.start("worker", "--verbosity=0")
            status = await worker.wait()
            self.processes.discard(worker)
            logger.error("The worker ended with status %d; starting it again.", status)
            if time.monotonic() - started > longest:
                delay = shortest
            await asyncio.sleep(delay)
            delay = min(delay * 2, longest)

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
