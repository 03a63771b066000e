"""Processes that serve on one port, kept running until a signal."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from pytest_django import Settings

from chat.management import supervisor, web_processes
from chat.management.web_processes import WebProcesses, bind, metrics_folder

READY = """
import os, signal, sys
def tell(received, frame):
    print(received, file=open(sys.argv[2], "a"), flush=True)
    sys.exit(received)
signal.signal(signal.SIGTERM, tell)
signal.signal(signal.SIGINT, tell)
os.write(int(sys.argv[1]), b".")
signal.pause()
"""
STUBBORN = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(int(sys.argv[1]), b".")
while True:
    signal.pause()
"""
NEVER_READY = READY.replace('os.write(int(sys.argv[1]), b".")', "")


class Scripted(WebProcesses):
    """Runs Python programs in place of the site's command."""

    def __init__(self, program: str, folder: Path, count: int = 2) -> None:
        super().__init__(count, bind("127.0.0.1", 0), folder)
        self.program = program
        self.started: asyncio.Queue[Process] = asyncio.Queue()
        self.begun = asyncio.Event()
        self.ending = asyncio.Event()

    async def run_all(self) -> int | None:
        def begin() -> None:
            self.giver.listener.listen()
            self.begun.set()

        return await self.run(begin, self.ending.set)

    async def start(self) -> Process:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", self.program, str(theirs.fileno()), self.metrics / "told",
                pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip
        self.giver.add(ours)
        self.processes[process] = ours
        self.started.put_nowait(process)
        return process

    async def all_ready(self) -> None:
        """Wait until as many processes as there are to be are ready."""
        async with asyncio.timeout(10):
            while len(self.giver.takers) < self.count:  # noqa: ASYNC110 - it tells of it once
                await asyncio.sleep(0.01)

    def told(self) -> list[int]:
        """Return the signals that processes were told to end with."""
        return [int(number) for number in (self.metrics / "told").read_text().split()]


@pytest.fixture(autouse=True)
async def _handlers() -> AsyncIterator[None]:
    yield
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().remove_signal_handler(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_is_passed_on_to_all_and_the_port_is_free_again(
    tmp_path: Path, number: signal.Signals
) -> None:
    web = Scripted(READY, tmp_path)
    address = web.giver.listener.getsockname()
    running = asyncio.create_task(web.run_all())
    await web.all_ready()
    pids = [process.pid for process in web.processes]
    os.kill(os.getpid(), number)
    assert await running is None
    assert web.ending.is_set()
    assert web.told() == [number, number]
    assert not any(psutil.pid_exists(pid) for pid in pids)
    bind(*address).close()


async def test_one_that_never_is_ready_ends_all_with_its_status(tmp_path: Path) -> None:
    web = Scripted("raise SystemExit(3)", tmp_path)
    assert await web.run_all() == 3
    assert not web.begun.is_set()
    assert web.started.qsize() == 2


async def test_while_not_all_are_ready_a_signal_is_passed_on_as_the_one_they_know(
    tmp_path: Path,
) -> None:
    web = Scripted(NEVER_READY, tmp_path)
    running = asyncio.create_task(web.run_all())
    processes = [await web.started.get() for _ in range(2)]
    os.kill(os.getpid(), signal.SIGINT)
    assert await running is None
    assert {process.returncode for process in processes} <= {signal.SIGTERM, -signal.SIGTERM}


async def test_one_that_is_killed_is_replaced_and_the_other_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", (0.0, 30.0))
    web = Scripted(READY, tmp_path)
    running = asyncio.create_task(web.run_all())
    await web.all_ready()
    first, second = await web.started.get(), await web.started.get()
    gauge = tmp_path / f"gauge_livesum_{first.pid}.db"
    kept = tmp_path / f"counter_{first.pid}.db"
    for path in (gauge, kept):
        path.touch()
    first.kill()
    third = await web.started.get()
    assert f"Web process {first.pid} was ended by SIGKILL" in caplog.text
    assert second.returncode is None
    assert not gauge.exists()
    assert kept.exists()
    await web.all_ready()
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running is None
    assert (second.returncode, third.returncode) == (15, 15)


async def test_one_that_ends_soon_each_time_is_given_up_and_all_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "RESTART_SECONDS", (0.0, 30.0))
    web = Scripted(READY, tmp_path)
    running = asyncio.create_task(web.run_all())
    await web.all_ready()
    first, second = await web.started.get(), await web.started.get()
    web.program = "raise SystemExit(3)"
    first.kill()
    assert await running == 3
    assert web.started.qsize() == supervisor.QUICK_ENDS - 1
    assert second.returncode == signal.SIGTERM
    assert not web.ending.is_set()


async def test_a_second_signal_is_passed_on(tmp_path: Path) -> None:
    web = Scripted(STUBBORN, tmp_path)
    running = asyncio.create_task(web.run_all())
    await web.all_ready()
    processes = set(web.processes)
    os.kill(os.getpid(), signal.SIGTERM)
    await web.ending.wait()
    os.kill(os.getpid(), signal.SIGINT)  # comes together with the first
    await asyncio.sleep(supervisor.TOGETHER_SECONDS)
    assert not running.done()
    assert {process.returncode for process in processes} == {None}
    os.kill(os.getpid(), signal.SIGINT)
    assert await running is None
    assert {process.returncode for process in processes} == {-signal.SIGINT}


async def test_one_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(web_processes, "END_SECONDS", 0.1)
    settings.DRAIN_SECONDS = 0
    web = Scripted(STUBBORN, tmp_path)
    running = asyncio.create_task(web.run_all())
    await web.all_ready()
    processes = set(web.processes)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running is None
    assert {process.returncode for process in processes} == {-signal.SIGKILL}


async def test_what_cannot_begin_ends_all_and_is_raised(tmp_path: Path) -> None:
    web = Scripted(READY, tmp_path)

    def fail() -> None:
        raise OSError("somebody else listens")

    with pytest.raises(OSError, match="somebody else listens"):
        await web.run(fail, web.ending.set)
    assert web.told()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]"])
def test_a_socket_has_the_address_and_refuses_connections_until_it_listens(host: str) -> None:
    with bind(host, 0) as bound:
        address = bound.getsockname()
        assert address[0] == host.strip("[]")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address[:2])
        bound.listen()
        socket.create_connection(address[:2]).close()
        with pytest.raises(OSError, match="in use"):
            bind(host, address[1])


def test_the_folder_of_metrics_is_empty_and_its_own_for_each_address(
    tmp_path: Path, settings: Settings
) -> None:
    settings.STATE_DIR = tmp_path
    folder = metrics_folder("127.0.0.1", 8000)
    (folder / "counter_1.db").touch()
    other = metrics_folder("127.0.0.1", 8001)
    assert other != folder
    assert list(folder.iterdir())
    assert metrics_folder("127.0.0.1", 8000) == folder
    assert not list(folder.iterdir())
