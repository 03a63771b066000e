"""A whole site in processes of its own, as `manage.py up` starts it."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from django.conf import settings

from tests.servers import free_port

START_SECONDS = 120


class Site:
    """A site with its own state, on its own port."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.home = state / "home"
        self.home.mkdir()
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}/"
        self.process: subprocess.Popen[bytes] | None = None

    def command(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a management command on the site's state, in a process group of its own."""
        ours = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "RAGSITE_STATE": str(self.state),
            "PORT": str(self.port),
        }
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=settings.BASE_DIR, env=ours | environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def up(self) -> str:
        """Start the site; return what it printed until it was ready."""
        self.process = self.command("up")
        printed = read_until(self.process, re.compile(rb"Set another password: .*\n"))
        return printed.decode()

    def child(self, command: str) -> psutil.Process | None:
        """Return the process that runs a command of the site, None while there is none."""
        assert self.process is not None
        for child in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if command in child.cmdline():
                    return child
        return None

    def postgres(self) -> psutil.Process | None:
        """Return the server of the site's database, None while there is none."""
        pid_file = self.state / "postgres" / "data" / "postmaster.pid"
        with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError, ValueError):
            return psutil.Process(int(pid_file.read_text().partition("\n")[0]))
        return None

    def is_healthy(self) -> bool:
        """Whether the site can be reached, and reaches its database."""
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.address}healthz", timeout=15).status_code == 200
        return False

    def processes(self) -> list[psutil.Process]:
        """Return every process of the running site, PostgreSQL's included."""
        assert self.process is not None
        postgres = self.postgres()
        assert postgres is not None
        roots = [psutil.Process(self.process.pid), postgres]
        return [*roots, *(child for root in roots for child in root.children(recursive=True))]

    def end(self, number: signal.Signals) -> list[psutil.Process]:
        """Send a signal to the whole group, as a terminal does; return processes left behind."""
        assert self.process is not None
        processes = self.processes()
        os.killpg(self.process.pid, number)
        self.process.communicate(timeout=30)
        _, left = psutil.wait_procs(processes, timeout=5)
        return left


def read_until(process: subprocess.Popen[bytes], pattern: re.Pattern[bytes]) -> bytes:
    """Return a process's output up to what matches; fails if it ends or takes too long."""
    assert process.stdout is not None
    printed, deadline = b"", time.monotonic() + START_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not pattern.search(printed):
            assert selector.select(deadline - time.monotonic()), printed.decode()
            part = os.read(process.stdout.fileno(), 65536)
            assert part, printed.decode()
            printed += part
    return printed


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Return a site that is not started yet, and shares the converted model with all others."""
    with tempfile.TemporaryDirectory(prefix="ragsite-") as name:
        state = Path(name).resolve()
        state.chmod(0o711)
        (state / "models").symlink_to(settings.MODEL_DIR)
        site = Site(state)
        yield site
        if site.process is not None:
            site.process.terminate()
            site.process.communicate()
