"""The secret key of an installation that was given none."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from django.core.management.utils import get_random_secret_key


def key(state_dir: Path) -> str:
    """Return the key kept in `state_dir` (mode 0600), making it on first use."""
    path = state_dir / "secret_key"
    if not path.exists():
        state_dir.mkdir(parents=True, exist_ok=True)
        # Of several processes that start together, the first to link its file wins, and nobody
        # reads a key that is half written. Temporary files have mode 0600.
        with tempfile.NamedTemporaryFile("w", dir=state_dir) as file:
            file.write(get_random_secret_key())
            file.flush()
            with contextlib.suppress(FileExistsError):
                os.link(file.name, path)
    return path.read_text()
