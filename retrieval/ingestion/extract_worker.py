"""The child process that reads one file: the file is its input, its arguments one JSON object.

It imports nothing of Django, limits and confines itself before it looks at the file, and is the
only place where parsers meet what people upload. The result is JSON on its standard output.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from retrieval.ingestion import confinement

MAX_CHARACTERS = 30_000_000


def main() -> None:
    """Read the file on standard input, within the limits that the argument gives."""
    given = json.loads(sys.argv[1])
    # Parsers may print; what they print must not mix with the result.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    seconds, more = given["seconds"], given["recognition"]["seconds"]
    confinement.limit(given["memory"], seconds, seconds + more, given["output"])
    confinement.confine(Path.cwd())
    # Imported below the limits: the libraries' threads and buffers count too.
    from retrieval.ingestion.errors import ExtractionError  # noqa: PLC0415
    from retrieval.ingestion.ocr import Recognition  # noqa: PLC0415
    from retrieval.ingestion.reading import read  # noqa: PLC0415

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


if __name__ == "__main__":
    main()
