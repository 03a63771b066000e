"""The site as processes of its own: web server and worker, on the test database."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).parents[2]
START_SECONDS = 120
REST_SECONDS = 20
BUSY = """
SELECT exists (SELECT FROM chat_run WHERE state IN ('queued', 'running')) OR exists (
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND backend_type = 'client backend' AND state <> 'idle'
)
"""


def environment(port: int, **changes: str) -> dict[str, str]:
    """Return the environment of a site that shares this test run's database, files and model."""
    state = Path(settings.STATIC_ROOT).parent
    models = state / "models"
    if not models.exists():
        models.symlink_to(settings.MODEL_DIR, target_is_directory=True)
    database = connection.settings_dict
    login = f"{quote(database['USER'])}:{quote(database['PASSWORD'])}"
    address = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
    unset = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "COHERE_API_KEY", "PUBLIC_URL")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    return {
        **kept,
        "DATABASE_URL": f"postgres://{login}@{address}",
        "RAGSITE_STATE": str(state),
        "SECRET_KEY": settings.SECRET_KEY,
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "RUN_GRACE_SECONDS": "0",
        # What a provider was told to answer is the answer to the question.
        "REWRITE": "0",
        "TITLES": "0",
        **changes,
    }


@contextmanager
def running(command: str, environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a management command until the block ends."""
    process = subprocess.Popen([sys.executable, "manage.py", command], cwd=ROOT, env=environ)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    """Return when the site answers. Raises RuntimeError if it ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/healthz", timeout=1).close()
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("The site did not start.")


def wait_until_at_rest() -> None:
    """Return when the site works on nothing: emptying the database under it would deadlock."""
    deadline = time.monotonic() + REST_SECONDS
    with connection.cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute(BUSY)
            if cursor.fetchone() == (False,):
                return
            time.sleep(0.02)
    raise RuntimeError("The site did not come to rest.")
