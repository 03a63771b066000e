"""The child process that reads one file: `python -m … FILE NAME`, the result as JSON on stdout.

It imports nothing of Django, limits its own memory and time before it looks at the file, and is
the only place where parsers meet what people upload.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

MAX_CHARACTERS = 30_000_000


def main() -> None:
    """Read the file named by the arguments, within the limits they give."""
    path, name, memory, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    # Parsers may print; what they print must not mix with the result.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Imported below the limits: the libraries' threads and buffers count too.
    from retrieval.ingestion.errors import ExtractionError  # noqa: PLC0415
    from retrieval.ingestion.reading import read  # noqa: PLC0415

    result: dict[str, Any]
    try:
        result = {"ok": read(Path(path).read_bytes(), name, MAX_CHARACTERS)}
    except ExtractionError as error:
        result = {"error": {"code": error.code, "message": error.message}}
    except MemoryError:
        result = {"error": {"code": "too-large", "message": ""}}
    with output:
        output.write(json.dumps(result).encode())


if __name__ == "__main__":
    main()
