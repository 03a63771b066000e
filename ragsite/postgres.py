"""The embedded PostgreSQL, used when DATABASE_URL is not set.

Starting and stopping is ours and not the package's, because PostgreSQL never runs as root and must
not open anybody's folders. Every process that uses the server holds a shared lock; the last one to
let go stops it, however the others ended, and if they all were killed, `postgres_guard` does.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import DEVNULL
from typing import IO, Any

import psycopg
from psycopg import sql

from ragsite.environment import BASE_DIR, env
from ragsite.postgres_programs import (
    UNPRIVILEGED,
    PostgresError,
    package_folder,
    run,
    stop,
)
from ragsite.state import is_root, open_to_others, state_dir

if sys.platform != "win32":
    import fcntl
    import pwd

    import psutil

USER = DATABASE = "ragsite"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "maintenance_work_mem": "256MB",
    "work_mem": "16MB",
    "max_wal_size": "2GB",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Its own log holds no statement and no row: they are of what people ask and upload.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}

# How long the port of a server that was killed may still be taken.
LETTING_GO_SECONDS = 2.0


def database(state: Path) -> dict[str, Any]:
    """Return Django's connection settings of the embedded server, choosing a port on first use."""
    folder = _folder(state)
    return {
        "NAME": DATABASE,
        "USER": USER,
        "PASSWORD": _kept(folder / "password", lambda: secrets.token_urlsafe(24)),
        "HOST": "127.0.0.1",
        "PORT": _kept(folder / "port", _free_port),
    }


def ensure() -> None:
    """Start the server, or find it running, where DATABASE_URL does not name another.

    To be called before Django reads its settings: the port may change when the server starts.
    Raises PostgresError if it cannot start.
    """
    if not env.str("DATABASE_URL", default=""):
        use(state_dir(BASE_DIR))


def use(state: Path) -> None:
    """Start the server unless it runs, and stop it at this process's end if nobody else uses it.

    Raises PostgresError if it cannot start.
    """
    if state in _held:
        return
    folder = _folder(state)
    users = (folder / "users.lock").open("a")
    # First of all, so that a process that is ended while it starts lets go as well.
    _held[state] = users
    atexit.register(release, state)
    fcntl.flock(users, fcntl.LOCK_SH)
    try:
        keep_running(state)
    except PostgresError:
        release(state)
        raise


def keep_running(state: Path) -> bool:
    """Start the server if it does not run, or not any more; return whether that was so.

    Raises PostgresError if it cannot start.
    """
    folder = _folder(state)
    with _locked(folder / "start.lock"):
        if _running(folder):
            return False
        _start(folder, state)
        return True


def release(state: Path) -> None:
    """Let go of the server; the last process to do so stops it."""
    users = _held.pop(state, None)
    if users is None:
        return
    with users:
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        folder = state / "postgres"
        if _running(folder):
            stop(folder)


_held: dict[Path, IO[str]] = {}


def _start(folder: Path, state: Path) -> None:
    data = folder / "data"
    if is_root() and not open_to_others(folder):
        raise PostgresError(
            f"PostgreSQL does not run as root, and the user {UNPRIVILEGED} cannot enter "
            f"{folder}. Set RAGSITE_STATE to a folder that every user may enter."
        )
    settings = database(state)
    if not data.exists():
        _initialise(folder)
    if psutil.pid_exists(_pid(data)):
        # The server was killed and its number is another process's by now, which PostgreSQL
        # would take for a server. In all other cases it judges the file by itself.
        (data / "postmaster.pid").unlink(missing_ok=True)
    if not _becomes_free(int(settings["PORT"])):
        (folder / "port").unlink()
        settings = database(state)
    options = SETTINGS | {"shared_buffers": shared_buffers(), "port": str(settings["PORT"])}
    arguments = " ".join(f"-c {name}={value!r}" for name, value in options.items())
    run(folder, "pg_ctl", "-D", data, "-w", "-l", data / "server.log", "-o", arguments, "start")
    guard(folder)
    _create_database(settings)


def shared_buffers() -> str:
    """Return an eighth of the machine's memory, within 128 MB and 2 GB.

    Search is quick where the vectors' index fits in; what is not used takes no memory.
    """
    megabytes = psutil.virtual_memory().total // 8 // 2**20
    return f"{min(max(megabytes, 128), 2048)}MB"


def guard(folder: Path) -> None:
    """Have the server stopped when every process that uses it has ended, killed or not."""
    subprocess.run(
        [sys.executable, "-m", "ragsite.postgres_guard", str(folder)],
        cwd=BASE_DIR, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=True,
    )  # fmt: skip


def _initialise(folder: Path) -> None:
    # Renamed when it is complete: initdb may be killed half-way.
    unfinished = folder / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    # The server's user cannot read our password file: it gets a copy while initdb runs.
    password = folder / "initial-password"
    shutil.copy(folder / "password", password)
    password.chmod(0o600)
    if is_root():
        entry = pwd.getpwnam(UNPRIVILEGED)
        os.chown(unfinished, entry.pw_uid, entry.pw_gid)
        os.chown(password, entry.pw_uid, entry.pw_gid)
    try:
        run(folder, "initdb", "-D", unfinished, "-U", USER, "--auth=scram-sha-256",
             f"--pwfile={password}", *locale)  # fmt: skip
    finally:
        password.unlink()
    unfinished.rename(folder / "data")


def _create_database(settings: dict[str, Any]) -> None:
    with psycopg.connect(
        host=settings["HOST"], port=settings["PORT"], user=USER, password=settings["PASSWORD"],
        dbname="postgres", autocommit=True,
    ) as connection:  # fmt: skip
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
        if known.fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def _running(folder: Path) -> bool:
    data = folder / "data"
    try:
        return str(data) in psutil.Process(_pid(data)).cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _pid(data: Path) -> int:
    """Return the process that says it serves the data, 0 if none does."""
    try:
        return int((data / "postmaster.pid").read_text().partition("\n")[0])
    except (FileNotFoundError, ValueError):
        return 0


def _folder(state: Path) -> Path:
    """Return the folder of the server's files; others may enter, not list, what root makes.

    Raises PostgresError on a platform that has no embedded server.
    """
    package_folder()
    folder = state / "postgres"
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        if is_root():
            path.chmod(0o711)
    return folder


def _kept(path: Path, make: Callable[[], object]) -> str:
    """Return what the file holds, making it (mode 0600) on first use."""
    with _locked(path.with_suffix(".lock")):
        kept = path.read_text() if path.exists() else ""
        if not kept:
            kept = str(make())
            path.touch(mode=0o600)
            path.write_text(kept)
        return kept


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _becomes_free(port: int) -> bool:
    """Whether nobody listens; a server that was just killed still may, for a moment."""
    deadline = time.monotonic() + LETTING_GO_SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
