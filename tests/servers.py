"""Redis and nginx as real processes of a test, on free ports, in folders of their own."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

START_SECONDS = 20
# Clients are given ports above these: one could be in use before its server is.
PORTS = (20_000, 32_000)
# Debian keeps servers where only root's PATH looks.
PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
NGINX_CONF = Path(__file__).parents[1] / "deploy" / "nginx.conf"


def program(name: str) -> str:
    """Return the path of an installed program; fails the test if there is none."""
    found = shutil.which(name, path=PATH)
    assert found, f"{name} is not installed; .ci/run installs it"
    return found


def free_port() -> int:
    """Return a port nobody listens on, none of those that clients are given by the system."""
    while True:
        port = random.randrange(*PORTS)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port


def wait_until(condition: Callable[[], object], what: str, seconds: float = START_SECONDS) -> float:
    """Return when `condition` holds, with how long it took; fails after `seconds`."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return time.monotonic() - started


def listens(port: int) -> bool:
    """Whether somebody accepts connections on a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class Server:
    """A process that listens on `port`; it can be stopped and started again."""

    def __init__(self, *command: str, port: int) -> None:
        self.command = command
        self.port = port
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and return when it accepts connections."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        wait_until(lambda: listens(self.port), f"{self.command[0]} listens")

    def freeze(self) -> None:
        """Let it accept connections, and never answer."""
        assert self.process
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on where it was frozen."""
        assert self.process
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it, and return when it has ended."""
        if self.process:
            self.thaw()
            self.process.terminate()
            self.process.wait(START_SECONDS)
            self.process = None


@pytest.fixture
def redis() -> Iterator[Server]:
    """Return a Redis that runs, and keeps nothing."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        options = ["--save", "", "--dir", folder, "--bind", "127.0.0.1", "--loglevel", "warning"]
        server = Server(program("redis-server"), "--port", str(port), *options, port=port)
        server.start()
        yield server
        server.stop()


@contextmanager
def nginx(*upstreams: int) -> Iterator[int]:
    """Run nginx with the repository's configuration before these ports; yield its own port."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="nginx-") as name:
        folder = Path(name)
        # Its workers, who are not root, enter this folder.
        folder.chmod(0o711)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
        servers = "\n".join(
            f"        server 127.0.0.1:{each} max_fails=1 fail_timeout=5s;" for each in upstreams
        )
        changes = {
            "pid /run/nginx.pid;": f"pid {folder}/pid; daemon off;",
            "http {": f"http {{ {temporary}",
            "/var/log/nginx/": f"{folder}/",
            "listen 80;": f"listen 127.0.0.1:{port};",
            "        server 127.0.0.1:8000 max_fails=1 fail_timeout=5s;\n"
            "        server 127.0.0.1:8001 max_fails=1 fail_timeout=5s;": servers,
        }
        text = NGINX_CONF.read_text()
        for old, new in changes.items():
            assert text.count(old) >= 1, old
            text = text.replace(old, new)
        conf = folder / "nginx.conf"
        conf.write_text(text)
        server = Server(program("nginx"), "-c", str(conf), "-e", f"{folder}/start.log", port=port)
        server.start()
        try:
            yield port
        finally:
            server.stop()


class Relay:
    """Passes connections on to a port of this machine, until it is cut."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = free_port()
        self.listener: socket.socket | None = None
        self.threads: list[threading.Thread] = []
        self.ends: list[socket.socket] = []
        self.changing = threading.Lock()

    def open(self) -> None:
        """Take connections."""
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self._run(self._accept, self.listener)

    def cut(self) -> None:
        """End all connections, and refuse new ones."""
        with self.changing:
            listener, self.listener = self.listener, None
            for each in [*self.ends, *([listener] if listener else [])]:
                shut(each)
            self.ends.clear()
        for thread in self.threads:
            thread.join(START_SECONDS)
        self.threads.clear()

    def drop(self) -> None:
        """End all connections; new ones are taken."""
        with self.changing:
            for each in self.ends:
                shut(each)
            self.ends.clear()

    def _run(self, target: Callable[..., None], *sockets: socket.socket) -> None:
        thread = threading.Thread(target=target, args=sockets, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        with listener, contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                with self.changing:
                    self.ends += [client, server]
                    if self.listener is None:
                        shut(client)
                        shut(server)
                    self._run(self._pass_on, client, server)
                    self._run(self._pass_on, server, client)

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket) -> None:
        """Pass on what comes; the other direction's thread closes the other end."""
        with source:
            with contextlib.suppress(OSError):
                while part := source.recv(65536):
                    target.sendall(part)
            shut(target)


def shut(end: socket.socket) -> None:
    """End a connection in both directions, whoever waits on it."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
