"""`manage.py worker` as a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).parents[3]


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[str]]:
    database = connection.settings_dict
    url = (
        f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:"
        f"{database['PORT']}/{database['NAME']}"
    )
    with subprocess.Popen(
        [sys.executable, "manage.py", "worker"],
        cwd=ROOT, env=os.environ | {"DATABASE_URL": url}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_it(worker: subprocess.Popen[str], number: int) -> None:
    """SIGTERM and Ctrl-C end the worker in seconds, cleanly."""
    assert worker.stdout is not None
    lines = iter(worker.stdout.readline, "")
    assert any("Worker started" in line for line in lines)
    worker.send_signal(number)
    rest = worker.communicate(timeout=20)[0]
    assert worker.returncode == 0
    assert "Worker stopped" in rest
    assert "Traceback" not in rest
