"""Processes that read files, forked off one that is ready to: the side of the worker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from retrieval.ingestion.errors import StalledError
from retrieval.per_loop import PerLoop

ROOT = Path(__file__).resolve().parents[2]
# All that they get of the environment: where programs and tesseract's data are.
ENVIRONMENT = ("PATH", "TESSDATA_PREFIX", "LD_LIBRARY_PATH", "SYSTEMROOT")
STOP_SECONDS = 10


class Readers:
    """The fork server of an event loop; it is started when it is needed first, or has died."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._one_at_a_time = asyncio.Lock()

    async def run(
        self, request: Mapping[str, Any], streams: Sequence[IO[bytes]], seconds: float
    ) -> int:
        """Return the exit status of a reader: negative when a signal ended it.

        It is killed, with the programs it started, when that takes longer than `seconds` or when
        the caller is cancelled. Raises TimeoutError, or StalledError if it was lost.
        """
        starting = asyncio.ensure_future(self._start(json.dumps(request).encode(), streams))
        try:
            pid, said = await asyncio.shield(starting)
        except asyncio.CancelledError:
            pid, said = await starting
            await _end(pid, said)
            raise
        try:
            status = await asyncio.wait_for(said.readline(), seconds)
        finally:
            await _end(pid, said)
        if not status:
            raise StalledError
        return int(status)

    async def _start(
        self, request: bytes, streams: Sequence[IO[bytes]]
    ) -> tuple[int, asyncio.StreamReader]:
        """Return a new reader's process id, and what its exit status will come from."""
        async with self._one_at_a_time:
            for _ in range(2):  # the server may have died since the last one
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    said = await self._ask(request, streams)
                    if pid := await said.readline():
                        return int(pid), said
                await self.close()
        raise StalledError

    async def _ask(self, request: bytes, streams: Sequence[IO[bytes]]) -> asyncio.StreamReader:
        requests = self._requests or self._open()
        said = asyncio.StreamReader()
        receiving, sending = os.pipe()
        try:
            await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(said), os.fdopen(receiving, "rb", 0)
            )
            descriptors = [*(stream.fileno() for stream in streams), sending]
            socket.send_fds(requests, [request], descriptors)
        finally:
            os.close(sending)
        return said

    def _open(self) -> socket.socket:
        self._requests, theirs = socket.socketpair()
        kept = {key: os.environ[key] for key in ENVIRONMENT if key in os.environ}
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "retrieval.ingestion.fork_server"],
                stdin=theirs.fileno(),
                env=kept | {"PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "OMP_THREAD_LIMIT": "1"},
            )
        return self._requests

    async def close(self) -> None:
        """End the server and what it started."""
        requests, server = self._requests, self._server
        self._requests = self._server = None
        if requests is not None:
            requests.close()
        if server is not None:
            await asyncio.to_thread(_wait, server)


async def _end(pid: int, said: asyncio.StreamReader) -> None:
    """Kill a reader and the programs it started, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    await said.read()


def _wait(server: subprocess.Popen[bytes]) -> None:
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


readers = PerLoop(Readers, Readers.close)
