"""Several web processes that serve on one port, started and ended together."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import shutil
import signal
import socket
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from prometheus_client.multiprocess import mark_process_dead

from chat.management.handover import Giver
from chat.management.supervisor import QUICK_ENDS, TOGETHER_SECONDS, Pause, how

logger = logging.getLogger(__name__)

# What a process may take to end before it is killed, beside the time for answers to end.
END_SECONDS = 15.0


class WebProcesses:
    """Keeps so many processes running until a signal, which is passed on to them."""

    def __init__(self, count: int, listener: socket.socket, metrics: Path) -> None:
        """Let `count` processes serve at the address of `listener`; they count in `metrics`."""
        self.count = count
        self.giver = Giver(listener, count)
        self.metrics = metrics
        self.processes: dict[Process, socket.socket] = {}
        """By what each takes connections."""
        self.signalled = asyncio.Event()
        self.when_signalled = 0.0
        # What the processes are told to end with; while they start they know only this one.
        self.signal = signal.SIGTERM

    async def run(self, begin: Callable[[], None], announce_end: Callable[[], None]) -> int | None:
        """Run all, calling `begin`, which is to listen, when all are ready.

        Calls `announce_end` after a signal, and returns None then; otherwise returns the status of
        a process that ended before all were ready, or too often.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.interrupt, number)
        keepers = [asyncio.create_task(self.keep()) for _ in range(self.count)]
        giving = asyncio.create_task(self.give(begin))
        signalled = asyncio.create_task(self.signalled.wait())
        try:
            await asyncio.wait({signalled, giving, *keepers}, return_when=asyncio.FIRST_COMPLETED)
            given_up = next((task for task in (giving, *keepers) if task.done()), None)
            if self.signalled.is_set():
                announce_end()
        finally:
            for task in (signalled, *keepers):
                task.cancel()
            await asyncio.gather(signalled, *keepers, return_exceptions=True)
            await asyncio.gather(self.stop_giving(giving), *map(self.end, self.processes))
        return None if self.signalled.is_set() or not given_up else given_up.result()

    async def give(self, begin: Callable[[], None]) -> None:
        """Give the processes connections as soon as all are ready."""
        await self.giver.is_ready.wait()
        begin()
        await self.giver.give()

    async def stop_giving(self, giving: asyncio.Task[None]) -> None:
        """Give connections until nobody takes any, and refuse them from then on."""
        await self.giver.is_deserted.wait()
        giving.cancel()
        await asyncio.gather(giving, return_exceptions=True)
        self.giver.listener.close()

    def interrupt(self, number: signal.Signals) -> None:
        """End in order on the first signal; pass a second one on, which ends at once."""
        if not self.signalled.is_set():
            self.when_signalled = time.monotonic()
            if self.giver.is_ready.is_set():
                self.signal = number
            self.signalled.set()
        elif time.monotonic() - self.when_signalled > TOGETHER_SECONDS:
            for process in self.processes:
                tell(process, number)

    async def keep(self) -> int:
        """Start a process whenever it is not running; return its status to give it up."""
        pause = Pause()
        while True:
            process = await self.start()
            status = await process.wait()
            self.forget(process)
            pause.note_end()
            if not self.giver.is_ready.is_set() or pause.quick_ends == QUICK_ENDS:
                return status
            logger.error("Web process %d %s; starting another.", process.pid, how(status))
            await pause.wait()

    async def start(self) -> Process:
        """Start a process, out of reach of the terminal's Ctrl-C; it logs to ours.

        It learns that this process has ended by the end of what it takes connections from.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable, str(settings.BASE_DIR / "manage.py"), "web",
                f"--fd={theirs.fileno()}", "--verbosity=0",
                stdin=DEVNULL, stdout=DEVNULL, start_new_session=True, pass_fds=[theirs.fileno()],
                env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(self.metrics)},
            )  # fmt: skip
        self.giver.add(ours)
        self.processes[process] = ours
        return process

    def forget(self, process: Process) -> None:
        """Count no more what a process that has ended was doing."""
        self.giver.remove(self.processes.pop(process))
        mark_process_dead(process.pid, str(self.metrics))  # type: ignore[no-untyped-call]

    async def end(self, process: Process) -> None:
        """Tell a process to end, and kill it if it does not within the limit."""
        tell(process, self.signal)
        try:
            async with asyncio.timeout(END_SECONDS + settings.DRAIN_SECONDS):
                await process.wait()
        except TimeoutError:
            logger.warning("Web process %d did not end in time and is killed.", process.pid)
            process.kill()
            await process.wait()
        self.forget(process)


def tell(process: Process, number: signal.Signals) -> None:
    """Send a signal to a process unless it has ended."""
    if process.returncode is None:
        process.send_signal(number)


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that has the address and does not listen yet. Raises OSError."""
    address = host.strip("[]")
    bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port))
    except OSError:
        bound.close()
        raise
    return bound


def metrics_folder(host: str, port: int) -> Path:
    """Return the empty folder in which the processes at an address count together."""
    # Several machines may share the state folder.
    folder: Path = settings.STATE_DIR / "metrics" / f"{platform.node()}-{host}-{port}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
