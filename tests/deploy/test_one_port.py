"""Several processes of one command, which serve on one port."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import httpx
import psutil
import pytest
from websockets.exceptions import ConnectionClosed

from chat.management.supervisor import TOGETHER_SECONDS
from chat.models import Run, RunState
from tests.browser.site import ROOT, environment
from tests.deploy.conftest import END_SECONDS, SOON_SECONDS, TOKEN, Page, Web
from tests.provider import Answer, Provider
from tests.servers import Server, free_port, wait_until

Visit = Callable[..., Page]
METRICS_TOKEN = "of-nobody-but-this-test-9f2c7ab1e4d8"


def serving(web: Web) -> list[psutil.Process]:
    """Return the processes that serve."""
    return psutil.Process(web.process.pid).children()


def wait_until_all_serve(web: Web, count: int = 2) -> list[psutil.Process]:
    """Return the processes when each of them takes connections."""

    def all_serve() -> bool:
        address = ("127.0.0.1", web.port)
        with socket.create_connection(address), socket.create_connection(address):
            time.sleep(0.1)  # they are handed over meanwhile, or at the next attempt
            holders = [process for process in serving(web) if holds(process, web.port)]
            return len(holders) == count

    wait_until(all_serve, "all processes serve", END_SECONDS)
    return serving(web)


def holds(process: psutil.Process, port: int) -> bool:
    """Whether a process holds a connection of the site's port."""
    return any(
        connection.laddr and connection.laddr.port == port and connection.status == "ESTABLISHED"
        for connection in process.net_connections("tcp")
    )


@pytest.fixture
def web(start_web: Callable[..., Web], redis: Server, tower: None) -> Iterator[Web]:
    web = start_web(
        REDIS_URL=f"redis://127.0.0.1:{redis.port}/0",
        WEB_PROCESSES="2",
        RUN_GRACE_SECONDS="30",
        METRICS_TOKEN=METRICS_TOKEN,
    )
    found = serving(web)
    yield web
    if web.process.poll() is None:
        found += serving(web)
    web.end()
    for process in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(found, timeout=END_SECONDS)


@pytest.fixture
def processes(web: Web) -> list[psutil.Process]:
    """Return the processes that serve."""
    return serving(web)


@pytest.fixture
def pages(web: Web, visit: Visit) -> list[Page]:
    """Return two pages, one at each process."""
    return [visit(web.port) for _ in range(2)]


def owner(run: str) -> int:
    """Return the process that works on a run."""
    return int(Run.objects.get(id=run).owner.split(":")[1])


def metric(web: Web, name: str) -> float:
    """Return what a metric says, whichever process is asked."""
    headers = {"Authorization": f"Bearer {METRICS_TOKEN}"}
    lines = httpx.get(f"{web.url}/metrics", headers=headers).raise_for_status().text.splitlines()
    return sum(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def test_each_process_answers_in_its_turn(
    web: Web, visit: Visit, processes: list[psutil.Process]
) -> None:
    runs = [visit(web.port).ask()["run"] for _ in range(4)]
    owners = [owner(run) for run in runs]
    assert set(owners) == {process.pid for process in processes}
    assert owners[:2] == owners[2:]


def test_what_is_asked_at_one_is_resumed_and_stopped_at_the_other(
    pages: list[Page], model: Provider
) -> None:
    first, second = pages
    run = first.ask()["run"]
    model.release(2)
    first.until("citation", count=2)
    second.send(type="resume", run=run, after=0)
    second.until("citation", count=2)
    second.send(type="stop", run=run)
    for page in pages:
        assert page.until("done", "error")["finish_reason"] == "cancelled"
    assert first.text == second.text


def test_all_finish_their_answers_on_sigterm_and_no_process_is_left(
    web: Web, pages: list[Page], model: Provider, processes: list[psutil.Process]
) -> None:
    model.script(*[Answer(tokens=[TOKEN] * 5)] * 2)
    runs = [page.ask()["run"] for page in pages]
    assert len({owner(run) for run in runs}) == 2
    model.wait_for_request(2)
    web.process.send_signal(signal.SIGTERM)
    for _ in range(2):
        wait_until(lambda: httpx.get(f"{web.url}/healthz").status_code == 503, "they drain")
    model.release(100)
    for page in pages:
        assert page.until("done", "error")["finish_reason"] == "stop"
        assert page.text == TOKEN * 5
        with pytest.raises(ConnectionClosed) as closed:
            page.until("nothing")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
    assert web.process.wait(END_SECONDS) == 0
    assert not any(process.is_running() for process in processes)
    assert {run.state for run in Run.objects.all()} == {RunState.COMPLETED}


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_all_at_once(
    web: Web, pages: list[Page], processes: list[psutil.Process], second: signal.Signals
) -> None:
    for page in pages:
        page.ask()
    web.process.send_signal(signal.SIGTERM)
    wait_until(lambda: httpx.get(f"{web.url}/healthz").status_code == 503, "they drain")
    time.sleep(TOGETHER_SECONDS)  # as people do, who press a key twice
    pressed = time.monotonic()
    web.process.send_signal(second)
    web.process.wait(END_SECONDS)
    assert time.monotonic() - pressed < SOON_SECONDS
    assert not any(process.is_running() for process in processes)


def test_one_that_is_killed_is_replaced_while_the_other_serves(
    web: Web, visit: Visit, pages: list[Page], model: Provider, processes: list[psutil.Process]
) -> None:
    runs = {owner(page.ask()["run"]): page for page in pages}
    killed, other = processes
    killed.kill()
    killed.wait()
    # Each is passed on to the one that is left.
    for _ in range(4):
        assert httpx.get(f"{web.url}/healthz").status_code == 200
    model.release(10)
    runs[other.pid].until("citation")
    with pytest.raises(ConnectionClosed):
        runs[killed.pid].until("nothing")
    replaced = wait_until_all_serve(web)
    assert other in replaced
    assert killed not in replaced
    assert f"Web process {killed.pid} was ended by SIGKILL" in web.logged()
    owners = {owner(visit(web.port).ask()["run"]) for _ in range(2)}
    assert owners == {process.pid for process in replaced}


def test_when_the_command_is_killed_no_process_is_left(
    web: Web, pages: list[Page], processes: list[psutil.Process]
) -> None:
    for page in pages:
        page.ask()
    web.process.kill()
    web.process.wait()
    # The port is free at once, for who starts the command again.
    socket.create_server(("127.0.0.1", web.port)).close()
    _, left = psutil.wait_procs(processes, timeout=15)
    assert left == []
    assert {run.state for run in Run.objects.all()} == {RunState.INTERRUPTED}


def test_metrics_are_those_of_all_processes(
    web: Web, pages: list[Page], processes: list[psutil.Process], model: Provider
) -> None:
    runs = {owner(page.ask()["run"]): page for page in pages}
    for _ in range(4):  # each process is asked
        assert metric(web, "ragsite_active_runs") == 2
        assert metric(web, "ragsite_subscribers") == 2
        assert metric(web, "ragsite_first_status_seconds_count") == 2
    processes[0].kill()
    processes[0].wait()
    wait_until(lambda: metric(web, "ragsite_active_runs") == 1, "the dead are not counted")
    # What it had counted by then is.
    assert metric(web, "ragsite_first_status_seconds_count") == 2
    page = runs[processes[1].pid]
    page.send(type="stop")
    page.until("done")
    assert metric(web, "ragsite_active_runs") == 0


def refused(environ: dict[str, str]) -> str:
    """Run the command, which is to be refused; return what it says."""
    ended = subprocess.run(
        [sys.executable, "manage.py", "web"],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    return ended.stderr


@pytest.mark.parametrize("count", ["1", "2"])
def test_a_port_that_is_taken_is_refused(web: Web, count: str) -> None:
    said = refused(web.environ | {"WEB_PROCESSES": count})
    assert f"127.0.0.1:{web.port}" in said
    assert "in use" in said
    assert "Set PORT or HOST" in said
    assert httpx.get(f"{web.url}/healthz").status_code == 200


@pytest.mark.parametrize(("count", "advice"), [("2", "Set REDIS_URL"), ("0", "1 or more")])
def test_several_processes_without_redis_are_refused_and_none_at_all(
    transactional_db: None, count: str, advice: str
) -> None:
    assert advice in refused(environment(free_port(), WEB_PROCESSES=count, REDIS_URL=""))
