"""Reading an uploaded file in a child process with limits on memory, time and output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from django.conf import settings

from retrieval.ingestion.errors import ExtractionError

if TYPE_CHECKING:
    from retrieval.ingestion.reading import Extracted

ROOT = Path(__file__).resolve().parents[2]
# What the child may write: JSON escapes make a text up to six times as long.
OUTPUT_BYTES = 256 * 2**20


async def extract(path: Path, name: str) -> Extracted:
    """Return the text of the file at `path`, which was uploaded as `name`.

    Raises ExtractionError for a file that cannot be read. Cancelling kills the child.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as log:
        status = await _run_child(path, name, output, log)
        if status == 0 and _size(output) <= OUTPUT_BYTES:
            output.seek(0)
            result = await asyncio.to_thread(json.load, output)
            if "ok" in result:
                return result["ok"]  # type: ignore[no-any-return]
            raise ExtractionError(result["error"]["code"], result["error"]["message"])
        log.seek(max(0, _size(log) - 2000))
        tail = log.read().decode(errors="replace")
    raise _explain(status, tail)


async def _run_child(path: Path, name: str, output: IO[bytes], log: IO[bytes]) -> int:
    """Return the child's exit status: negative when a signal ended it."""
    seconds = settings.EXTRACTION_TIMEOUT_SECONDS
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "retrieval.ingestion.extract_worker", str(path), name,
        str(settings.EXTRACTION_MEMORY_BYTES), str(seconds),
        stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=log, cwd=ROOT,
    )  # fmt: skip
    try:
        return await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError as error:
        raise ExtractionError("timeout") from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _size(file: IO[bytes]) -> int:
    return file.seek(0, 2)


def _explain(status: int, log: str) -> ExtractionError:
    """Say why the child died: it ran into a limit, or the file made a parser crash."""
    if status == -signal.SIGXCPU:
        return ExtractionError("timeout")
    if "memory allocation" in log or "MemoryError" in log or status in (0, -signal.SIGKILL):
        return ExtractionError("too-large")
    return ExtractionError("corrupt")
