"""A folder for a site's state, which the user that PostgreSQL runs as can reach."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragsite import postgres


@pytest.fixture
def state() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ragsite-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o711)
        yield folder
        postgres.release(folder)
