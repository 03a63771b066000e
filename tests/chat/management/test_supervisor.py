"""Processes that are started and ended together."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable

import psutil
import pytest
from pytest_django import Settings

from chat.management import supervisor
from chat.management.supervisor import Pause, Supervisor

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
PAUSE = "import signal; signal.pause()"
TELLS_SIGNAL = """
import signal, socket, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda received, frame: sys.exit(received))
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    signal.pause()
"""


class Scripted(Supervisor):
    """Runs Python programs in place of the site's commands."""

    def __init__(
        self, web: str, worker: str, keep_database: Callable[[], bool] | None = None
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            super().__init__("127.0.0.1", free.getsockname()[1], keep_database)
        self.programs = {"web": web, "worker": worker}
        self.webs: asyncio.Queue[Process] = asyncio.Queue()
        self.workers: asyncio.Queue[Process] = asyncio.Queue()

    async def start(self, *arguments: str) -> Process:
        port = str(self.address[1])
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", self.programs[arguments[0]], port, start_new_session=True
        )
        self.processes.add(process)
        started = {"web": self.webs, "worker": self.workers}[arguments[0]]
        started.put_nowait(process)
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


async def test_a_web_server_that_never_listens_ends_the_site_with_its_status() -> None:
    announced: list[bool] = []
    site = Scripted("raise SystemExit(3)", LISTEN)
    assert await site.run(lambda: announced.append(True)) == 3
    assert not announced
    assert site.webs.qsize() == 1


async def test_a_web_server_that_is_killed_is_started_again_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", (0.0, 30.0))
    announced: list[bool] = []
    site = Scripted(LISTEN, PAUSE)
    running = asyncio.create_task(site.run(lambda: announced.append(True)))
    first, worker = await site.webs.get(), await site.workers.get()
    first.kill()
    second = await site.webs.get()
    assert "was ended by SIGKILL" in caplog.text
    assert worker.returncode is None
    assert site.workers.empty()
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running is None
    assert announced == [True]
    assert not any(psutil.pid_exists(process.pid) for process in (second, worker))


async def test_a_web_server_that_ends_soon_each_time_is_given_up_with_its_status(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", (0.0, 30.0))
    site = Scripted(LISTEN, PAUSE)
    running = asyncio.create_task(site.run(lambda: None))
    worker = await site.workers.get()
    site.programs["web"] = "raise SystemExit(3)"
    (await site.webs.get()).kill()
    assert await running == 3
    assert site.webs.qsize() == supervisor.QUICK_ENDS - 1
    assert worker.returncode is not None


async def test_one_that_lasted_is_never_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", (0.0, 0.0))
    site = Scripted(LISTEN, PAUSE)
    running = asyncio.create_task(site.run(lambda: None))
    await site.workers.get()
    for _ in range(supervisor.QUICK_ENDS + 1):
        (await site.webs.get()).kill()
    await site.webs.get()
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running is None


async def test_the_pause_grows_while_it_ends_soon_and_has_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    pause = Pause()
    for _ in range(7):
        pause.note_end()
        await pause.wait()
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    pause.started -= supervisor.RESTART_SECONDS[1]
    pause.note_end()
    await pause.wait()
    assert waits[-1] == 1


async def test_the_database_is_looked_at_and_what_fails_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(supervisor, "LOOK_SECONDS", 0.0)
    looks: list[bool | Exception] = [False, OSError("No space"), True]
    looked = threading.Event()

    def look() -> bool:
        if not looks:
            looked.set()
            return False
        found = looks.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    site = Scripted(LISTEN, PAUSE, look)
    running = asyncio.create_task(site.run(lambda: None))
    await site.workers.get()
    assert await asyncio.to_thread(looked.wait, 10)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running is None
    assert caplog.text.index("cannot be started") < caplog.text.index("it runs again")


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
    site = Scripted(STUBBORN, PAUSE)
    running = asyncio.create_task(site.run(lambda: None))
    await site.workers.get()
    os.kill(os.getpid(), signal.SIGINT)
    assert await running is None
    assert all(process.returncode is not None for process in site.processes)


@pytest.mark.parametrize(
    ("sent", "received"), [(signal.SIGINT, 2), (signal.SIGHUP, 2), (signal.SIGTERM, 15)]
)
async def test_the_web_server_is_told_whether_there_is_time(sent: int, received: int) -> None:
    site = Scripted(TELLS_SIGNAL, PAUSE)
    running = asyncio.create_task(site.run(lambda: None))
    await site.workers.get()
    os.kill(os.getpid(), sent)
    await running
    assert site.web is not None
    assert site.web.returncode == received
