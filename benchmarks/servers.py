"""The servers that are measured, each started on a free port and ended with its context."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UVICORN = ("-m", "uvicorn", "--log-level", "warning")
START_SECONDS = 60
STOP_SECONDS = 15
# A run goes on this long after its reader left; short, so that it can be waited for.
GRACE_SECONDS = 2
EMBEDDING_MODEL = "fake-embed-384"
# Debian keeps servers where only root's PATH looks.
PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Server:
    """A running server: where it listens, and its process."""

    address: str
    pid: int

    @property
    def http(self) -> str:
        """The address for HTTP."""
        return f"http://{self.address}"


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def link_models(state: Path) -> None:
    """Let a site's folder find the checkout's models, which are prepared there if need be."""
    models = ROOT / "var" / "models"
    models.mkdir(parents=True, exist_ok=True)
    (state / "models").symlink_to(models)


@contextmanager
def serving(
    command: list[str], port: int, log: Path, folder: Path = ROOT, **environment: str
) -> Iterator[Server]:
    """Run a server until the context ends. Raises RuntimeError if it does not come to listen."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=os.environ | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        await_port(port, process, log)
        yield Server(f"127.0.0.1:{port}", process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the process listens. Raises RuntimeError with its last words if it does not."""
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"{process.args!r} does not listen: {log.read_text()[-2000:]}")


def provider(tools: Path, logs: Path, port: int) -> AbstractContextManager[Server]:
    """Run the fake provider."""
    return serving([str(tools / "fake_llm.py"), "--port", str(port)], port, logs / "provider.log")


def floor(tools: Path, logs: Path, api: str) -> AbstractContextManager[Server]:
    """Run the bare Channels passthrough on Daphne: what a socket costs without a product."""
    port = free_port()
    command = ["-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "-v", "0"]
    return serving(
        [*command, "channels_app:application"],
        port,
        logs / "floor.log",
        tools / "floors",
        CLIENT="aiohttp",
        LLM_BASE=api,
        PYTHONPATH=str(tools / "floors"),
    )


def baseline(tools: Path, logs: Path, api: str, database: str) -> AbstractContextManager[Server]:
    """Run the small RAG service of many articles, on a database of its own."""
    port = free_port()
    return serving(
        [
            "-m",
            "uvicorn",
            "baseline_fastapi_rag:app",
            "--port",
            str(port),
            "--log-level",
            "warning",
        ],
        port,
        logs / "baseline.log",
        tools,
        LLM_BASE=api,
        PG_URI=database,
    )


def product(logs: Path, *, uvicorn: bool) -> AbstractContextManager[Server]:
    """Run the site with Daphne as `manage.py web` does, or the same application with uvicorn."""
    port = free_port()
    command = ["manage.py", "web"]
    if uvicorn:
        command = [*UVICORN, "ragsite.asgi:application", "--port", str(port)]
    name = "uvicorn" if uvicorn else "product"
    return serving(command, port, logs / f"{name}.log", PORT=str(port))


@contextmanager
def two_processes(logs: Path) -> Iterator[Server]:
    """Run the site with two web processes, and the Redis that they need."""
    port = free_port()
    with (
        redis(logs) as url,
        serving(
            ["manage.py", "web"],
            port,
            logs / "two.log",
            PORT=str(port),
            WEB_PROCESSES="2",
            REDIS_URL=url,
        ) as server,
    ):
        yield server


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """Run a Redis that keeps nothing; yield its URL."""
    program = shutil.which("redis-server", path=PATH)
    if program is None:
        sys.exit("redis-server is not installed.")
    port, log = free_port(), folder / "redis.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "--port", str(port), "--save", "", "--dir", folder, "--bind", "127.0.0.1"],
            stdout=output,
        )
    try:
        await_port(port, process, log)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def product_environment(state: Path, api: str) -> dict[str, str]:
    """Return the settings of the site that is measured."""
    return {
        "DJANGO_SETTINGS_MODULE": "ragsite.settings",
        "RAGSITE_STATE": str(state),
        "DATABASE_URL": "",
        "EMBEDDER": "openai",
        "EMBEDDING_MODEL": EMBEDDING_MODEL,
        "EMBEDDING_DIMENSIONS": "384",
        "GENERATOR": "openai",
        "RERANKER": "local",
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": api,
        "CHAT_MODEL": "fake-n20-d5-f100",
        "ANSWER_THRESHOLD": "0",
        "RUN_GRACE_SECONDS": str(GRACE_SECONDS),
        "LOG_LEVEL": "WARNING",
    }
