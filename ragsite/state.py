"""The folder for everything the site writes."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from ragsite.environment import env


def state_dir(base_dir: Path) -> Path:
    """Return RAGSITE_STATE, or `var` in the checkout.

    As root below a folder that others may not enter, PostgreSQL could not reach `var`: then it
    is a folder of this checkout's own under /var/lib/ragsite.
    """
    if named := env.str("RAGSITE_STATE", default=""):
        return Path(named).resolve()
    if is_root() and not open_to_others(base_dir):
        digest = hashlib.sha256(str(base_dir).encode()).hexdigest()[:8]
        return Path("/var/lib/ragsite") / f"{base_dir.name}-{digest}"
    # A server is known by its folder, which must be the same by whatever link it is reached.
    return (base_dir / "var").resolve()


def is_root() -> bool:
    """Whether this process may do anything, and PostgreSQL would refuse to run in it."""
    return sys.platform != "win32" and os.geteuid() == 0


def open_to_others(path: Path) -> bool:
    """Whether every user may enter `path`; folders that do not exist yet do not count."""
    folders = [folder for folder in (path, *path.parents) if folder.exists()]
    return all(folder.stat().st_mode & 0o001 for folder in folders)
