"""What the child process that reads files may not do: grow, run on, write elsewhere, connect.

The first two hold everywhere. The others are Linux's, need no rights, and are left out where the
kernel or the container does not offer them.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
from pathlib import Path

OPEN_FILES = 256
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_NO_NEW_PRIVS = 38
# Landlock, by the numbers that its system calls have on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
RULE_PATH_BENEATH = 1
WRITE_FILE = 1 << 1
# Removing, and making anything from a device to a link: bits 4 to 12.
CHANGES = sum(1 << bit for bit in range(4, 13))
TRUNCATE, TRUNCATE_SINCE = 1 << 14, 3


def limit(memory: int, seconds: int, most_seconds: int, file_bytes: int) -> None:
    """Limit memory and files by bytes, and time: it ends after `seconds` unless `extend`ed.

    No process may take more than `most_seconds` of processor time, extended or not.
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    # Python ignores it: a file that grows too large would be an OSError in some parser.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def extend(seconds: float) -> None:
    """Let a process whose time is limited go on until `seconds` from now."""
    if signal.getitimer(signal.ITIMER_REAL)[0]:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def confine(folder: Path) -> None:
    """Take away the network, and writing anywhere but in `folder`, where that is possible."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    # Alone it needs rights, and leaves those to read what others own.
    if libc.unshare(CLONE_NEWNET):
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    handled = WRITE_FILE | CHANGES | (TRUNCATE if version >= TRUNCATE_SINCE else 0)
    ruleset = libc.syscall(CREATE_RULESET, struct.pack("Q", handled), 8, 0)
    if ruleset < 0:
        return
    for path, allowed in ((folder, handled), (Path(os.devnull), WRITE_FILE)):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", allowed, descriptor)
        libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0)
        os.close(descriptor)
    libc.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
