"""The child process that reads a file, and its limits."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from retrieval.ingestion.errors import ExtractionError, StalledError
from retrieval.ingestion.extraction import extract
from retrieval.ingestion.readers import Readers, readers


async def test_result_crosses_the_pipe(data: Path) -> None:
    """The child's result arrives whole, characters outside the basic plane included."""
    extracted = await extract(data / "encoded-subject.eml", "a.eml")
    assert "☸☿" in extracted["text"]


async def test_error_crosses_the_pipe(data: Path) -> None:
    """The child's error arrives with its code and sentence."""
    with pytest.raises(ExtractionError) as caught:
        await extract(data / "sheet-password.xlsx", "a.xlsx")
    assert caught.value.code == "encrypted"


async def test_memory_is_limited(tmp_path: Path, settings: Settings) -> None:
    """A file that needs too much memory ends in an error, not in the machine's."""
    settings.EXTRACTION_MEMORY_BYTES = 250 * 2**20
    path = tmp_path / "big.txt"
    path.write_bytes("wörter ".encode() * 8_000_000)
    with pytest.raises(ExtractionError) as caught:
        await extract(path, "big.txt")
    assert caught.value.code == "too-large"


async def test_time_is_limited(data: Path, settings: Settings) -> None:
    """A file that takes too long ends in an error."""
    settings.EXTRACTION_TIMEOUT_SECONDS = 0
    with pytest.raises(ExtractionError) as caught:
        await extract(data / "minimal.pdf", "a.pdf")
    assert caught.value.code == "timeout"


async def test_cancelling_kills_the_child(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No child is left behind when the worker stops."""
    started: list[int] = []
    running = asyncio.Event()
    start = Readers._start

    async def start_and_tell(*args: Any) -> tuple[int, asyncio.StreamReader]:
        pid, said = await start(*args)
        started.append(pid)
        running.set()
        return pid, said

    monkeypatch.setattr(Readers, "_start", start_and_tell)
    task = asyncio.create_task(extract(data / "minimal.pdf", "a.pdf"))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


async def test_server_that_died_is_started_again(data: Path) -> None:
    """The process that readers are forked off may be killed: the next file starts another."""
    await extract(data / "minimal.pdf", "a.pdf")
    server = (await readers.get())._server
    assert server is not None
    server.kill()
    server.wait()
    await extract(data / "minimal.pdf", "a.pdf")
    assert (await readers.get())._server is not server


async def test_reader_that_is_lost_may_be_tried_again(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When that process is killed while it reads, the file is not to blame."""
    start = Readers._start

    async def start_and_kill(self: Readers, *args: Any) -> tuple[int, asyncio.StreamReader]:
        pid, said = await start(self, *args)
        assert self._server is not None
        self._server.kill()
        return pid, said

    monkeypatch.setattr(Readers, "_start", start_and_kill)
    with pytest.raises(StalledError):
        await extract(data / "minimal.pdf", "a.pdf")


async def test_several_are_read_at_once(data: Path) -> None:
    """Each gets its own result."""
    files = ("minimal.pdf", "four-pages.pdf", "encoded-subject.eml") * 3
    found = await asyncio.gather(*(extract(data / name, name) for name in files))
    assert [each["media_type"] for each in found] == [
        "application/pdf", "application/pdf", "message/rfc822",
    ] * 3  # fmt: skip
