"""The child process that reads a file, and its limits."""

import asyncio
from pathlib import Path

import pytest
from pytest_django import Settings

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.extraction import extract


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
    started: list[asyncio.subprocess.Process] = []
    running = asyncio.Event()
    create = asyncio.create_subprocess_exec

    async def create_and_tell(*args: str, **options: object) -> asyncio.subprocess.Process:
        process = await create(*args, **options)  # type: ignore[arg-type]
        started.append(process)
        running.set()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", create_and_tell)
    task = asyncio.create_task(extract(data / "minimal.pdf", "a.pdf"))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert started[0].returncode == -9
