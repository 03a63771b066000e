"""Reading an uploaded file in a child process with limits on memory, time and output."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from django.conf import settings

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.readers import readers

if TYPE_CHECKING:
    from retrieval.ingestion.reading import Extracted

logger = logging.getLogger(__name__)

# What the child may write: JSON escapes make a text up to six times as long.
OUTPUT_BYTES = 256 * 2**20
# The child ends itself when its time is over; this is for one that cannot.
GRACE_SECONDS = 5
OUT_OF_MEMORY = ("memory allocation", "MemoryError", "bad_alloc", "out of memory", "OutOfMemory")


async def extract(path: Path, name: str) -> Extracted:
    """Return the text of the file at `path`, which was uploaded as `name`.

    Raises ExtractionError for a file that cannot be read. Cancelling kills the child.
    """
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as log,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        path.open("rb") as file,
    ):
        status = await _run_child(file, name, output, log, folder)
        if status == 0 and _size(output) <= OUTPUT_BYTES:
            output.seek(0)
            result = await asyncio.to_thread(json.load, output)
            if "ok" in result:
                return result["ok"]  # type: ignore[no-any-return]
            raise ExtractionError(result["error"]["code"], result["error"]["message"])
        log.seek(max(0, _size(log) - 2000))
        tail = log.read().decode(errors="replace")
    # What readers say of a file may quote it.
    said = f": {tail[-500:]}" if settings.LOG_QUESTIONS else ""
    logger.warning("Reading %r ended with status %d%s", name, status, said)
    raise _explain(status, tail)


async def _run_child(
    file: IO[bytes], name: str, output: IO[bytes], log: IO[bytes], folder: str
) -> int:
    """Return the child's exit status: negative when a signal ended it."""
    given = _limits()
    most = given["seconds"] + given["recognition"]["seconds"] + GRACE_SECONDS
    request = {
        "arguments": {"name": name, **given},
        "folder": folder,
        "environment": {"HOME": folder, "TMPDIR": folder},
    }
    try:
        return await (await readers.get()).run(request, (file, output, log), most)
    except TimeoutError as error:
        raise ExtractionError("timeout") from error


def _limits() -> dict[str, Any]:
    return {
        "memory": settings.EXTRACTION_MEMORY_BYTES,
        "seconds": settings.EXTRACTION_TIMEOUT_SECONDS,
        "output": OUTPUT_BYTES,
        "recognition": {
            "mode": settings.OCR,
            "languages": settings.OCR_LANGUAGES,
            "max_pages": settings.OCR_MAX_PAGES,
            "seconds": settings.OCR_TIMEOUT_SECONDS if settings.OCR != "off" else 0,
        },
    }


def _size(file: IO[bytes]) -> int:
    return file.seek(0, 2)


def _explain(status: int, log: str) -> ExtractionError:
    """Say why the child died: it ran into a limit, or the file made a parser crash."""
    if status in (-signal.SIGXCPU, -signal.SIGALRM):
        return ExtractionError("timeout")
    if status in (0, -signal.SIGKILL, -signal.SIGXFSZ) or any(w in log for w in OUT_OF_MEMORY):
        return ExtractionError("too-large")
    return ExtractionError("corrupt")
