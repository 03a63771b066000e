"""The process that readers of files are forked off: `python -m retrieval.ingestion.fork_server`.

It has imported what they need, which takes longer than reading most files does, but has run none
of it and meets no file. It gets requests on its standard input, a socket, and ends when the other
side does, with all that it started.

A request is a JSON object, `{"arguments": …, "folder": …, "environment": …}`, with four file
descriptors: standard input, output and error of the reader, and a pipe that gets the reader's
process id, and then its exit status, each in a line.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Sequence

from retrieval.ingestion import extract_worker

MOST_BYTES = 65536
STREAMS = 3


class ForkServer:
    """Forks readers, and tells what becomes of them."""

    def __init__(self, requests: socket.socket) -> None:
        self.requests = requests
        self.readers: dict[int, int] = {}

    def serve(self) -> None:
        """Take requests until the other side is gone."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: self.reap())
        while True:
            request, descriptors, *_ = socket.recv_fds(self.requests, MOST_BYTES, STREAMS + 1)
            if not request:
                break
            self.fork(request, descriptors)
        for reader in list(self.readers):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(reader, signal.SIGKILL)

    def fork(self, request: bytes, descriptors: Sequence[int]) -> None:
        """Start a reader."""
        *streams, status = descriptors
        # It may end before its pipe is known.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        reader = os.fork()
        if not reader:
            self.requests.close()
            become_reader(request, descriptors)
        self.readers[reader] = status
        tell(status, reader)
        for stream in streams:
            os.close(stream)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

    def reap(self) -> None:
        """Tell the exit status of readers that have ended."""
        while self.readers:
            reader, status = os.waitpid(-1, os.WNOHANG)
            if not reader:
                break
            pipe = self.readers.pop(reader)
            tell(pipe, os.waitstatus_to_exitcode(status))
            os.close(pipe)


def tell(pipe: int, number: int) -> None:
    """Write a number, if anybody still listens."""
    with contextlib.suppress(BrokenPipeError):
        os.write(pipe, f"{number}\n".encode())


def become_reader(request: bytes, descriptors: Sequence[int]) -> None:
    """Read the file as a process by itself would; never returns."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.setsid()
        for standard, stream in enumerate(descriptors[:STREAMS]):
            os.dup2(stream, standard)
        os.closerange(STREAMS, max(descriptors) + 1)
        given = json.loads(request)
        os.chdir(given["folder"])
        os.environ.update(given["environment"])
        tempfile.tempdir = None
        extract_worker.read_input(given["arguments"])
        status = 0
    except BaseException:  # noqa: BLE001 - it is the log of this process
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    ForkServer(socket.socket(fileno=0)).serve()
