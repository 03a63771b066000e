"""Processes that are started and ended together."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator

import psutil
import pytest
from pytest_django import Settings

from chat.management import supervisor
from chat.management.supervisor import Supervisor

LISTEN = """
import signal, socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    signal.pause()
"""
STUBBORN = """
import signal, socket, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    signal.pause()
"""
TELLS_SIGNAL = """
import signal, socket, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda received, frame: sys.exit(received))
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    signal.pause()
"""


class Scripted(Supervisor):
    """Runs Python programs in place of the site's commands."""

    def __init__(self, web: str, worker: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            super().__init__("127.0.0.1", free.getsockname()[1])
        self.programs = {"web": web, "worker": worker}
        self.workers: asyncio.Queue[Process] = asyncio.Queue()

    async def start(self, *arguments: str) -> Process:
        port = str(self.address[1])
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", self.programs[arguments[0]], port, start_new_session=True
        )
        self.processes.add(process)
        if arguments[0] == "worker":
            self.workers.put_nowait(process)
        return process


@pytest.fixture(autouse=True)
async def _handlers() -> AsyncIterator[None]:
    yield
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().remove_signal_handler(number)


async def test_a_signal_ends_all_processes() -> None:
    site = Scripted(LISTEN, LISTEN.replace("int(sys.argv[1])", "0"))
    running = asyncio.create_task(site.run(lambda: None))
    await site.workers.get()
    pids = [process.pid for process in site.processes]
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running is None
    assert len(pids) == 2
    assert not any(psutil.pid_exists(pid) for pid in pids)


async def test_the_end_of_the_web_server_ends_the_site_with_its_status() -> None:
    announced: list[bool] = []
    site = Scripted("raise SystemExit(3)", LISTEN)
    assert await site.run(lambda: announced.append(True)) == 3
    assert not announced


async def test_a_worker_that_ends_is_started_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", (0.0, 0.0))
    site = Scripted(LISTEN, "raise SystemExit(5)")
    running = asyncio.create_task(site.run(lambda: None))
    first, second = await site.workers.get(), await site.workers.get()
    assert first.pid != second.pid
    os.kill(os.getpid(), signal.SIGTERM)
    await running
    assert "ended with status 5" in caplog.text


async def test_a_process_that_does_not_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(supervisor, "END_SECONDS", 0.1)
    settings.DRAIN_SECONDS = 0
    site = Scripted(STUBBORN, "import signal; signal.pause()")
    running = asyncio.create_task(site.run(lambda: None))
    await site.workers.get()
    os.kill(os.getpid(), signal.SIGINT)
    assert await running is None
    assert all(process.returncode is not None for process in site.processes)


@pytest.mark.parametrize(
    ("sent", "received"), [(signal.SIGINT, 2), (signal.SIGHUP, 2), (signal.SIGTERM, 15)]
)
async def test_the_web_server_is_told_whether_there_is_time(sent: int, received: int) -> None:
    site = Scripted(TELLS_SIGNAL, "import signal; signal.pause()")
    running = asyncio.create_task(site.run(lambda: None))
    await site.workers.get()
    os.kill(os.getpid(), sent)
    await running
    assert site.web is not None
    assert site.web.returncode == received
