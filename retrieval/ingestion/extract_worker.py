"""What a process that reads one file does: the file is its input, its result JSON on its output.

It imports nothing of Django, limits and confines itself before it looks at the file, and is the
only place where parsers meet what people upload. `fork_server` makes such processes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from retrieval.ingestion import confinement
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.ocr import Recognition
from retrieval.ingestion.reading import read

MAX_CHARACTERS = 30_000_000


def read_input(given: dict[str, Any]) -> None:
    """Read the file on standard input, within the limits that are given."""
    # Parsers may print; what they print must not mix with the result.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    seconds, more = given["seconds"], given["recognition"]["seconds"]
    confinement.limit(given["memory"], seconds, seconds + more, given["output"])
    confinement.confine(Path.cwd())
    result: dict[str, Any]
    try:
        recognition = Recognition(**given["recognition"])
        with os.fdopen(0, "rb") as file:
            data = file.read()
        result = {"ok": read(data, given["name"], MAX_CHARACTERS, recognition)}
    except ExtractionError as error:
        result = {"error": {"code": error.code, "message": error.message}}
    except MemoryError:
        result = {"error": {"code": "too-large", "message": ""}}
    with output:
        output.write(json.dumps(result).encode())
