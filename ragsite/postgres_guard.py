"""Stops the embedded PostgreSQL when nobody uses it any more: a program of its own.

Processes that are killed stop nothing. This one is the child of none of them, waits until none
holds the lock that users of the server share, and stops the server then.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from ragsite.postgres_programs import PostgresError, stop

if sys.platform != "win32":
    import fcntl

# Whoever lets go last is to stop the server, and then knows that it has ended.
LOOK_SECONDS = 1.0


def watch(folder: Path) -> None:
    """Stop the server in `folder` once it has no users; return at once if that is watched for."""
    # The lock of the users is let go of last: who starts the server then finds no guard.
    with (folder / "users.lock").open("a") as users, (folder / "guard.lock").open("a") as guard:
        if not taken(guard.fileno()):
            return
        while not taken(users.fileno()):
            time.sleep(LOOK_SECONDS)
        # It has been stopped; or it is gone with its folder.
        with contextlib.suppress(PostgresError, FileNotFoundError):
            stop(folder)


def taken(file: int) -> bool:
    """Take the lock if nobody has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__" and not os.fork():  # who waits for this program does not for the guard
    os.setsid()
    os.chdir("/")
    watch(Path(sys.argv[1]))
