"""The secret key of an installation that was given none."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.management.utils import get_random_secret_key


def key(state_dir: Path) -> str:
    """Return the key kept in `state_dir` (mode 0600), making it on first use."""
    path = state_dir / "secret_key"
    state_dir.mkdir(parents=True, exist_ok=True)
    try:
        # The exclusive flag lets exactly one of several processes that start together write it.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    with os.fdopen(descriptor, "w") as file:
        file.write(get_random_secret_key())
    return path.read_text()
