"""Collecting static files, only when there is something new to collect."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command


def collect() -> None:
    """Run `collectstatic` unless what is in STATIC_ROOT was made from the same files."""
    root = Path(settings.STATIC_ROOT)
    mark, now = root / ".collected", fingerprint()
    if not mark.exists() or mark.read_text() != now:
        call_command("collectstatic", interactive=False, verbosity=0, skip_checks=True)
        mark.write_text(now)


def fingerprint() -> str:
    """Return a hash of the paths, sizes and times of all static files, and of the storage."""
    paths = [inspect.getfile(staticfiles_storage.__class__)]
    for finder in finders.get_finders():
        paths += [storage.path(name) for name, storage in finder.list([])]
    digest = hashlib.sha256()
    for path in sorted(paths):
        status = Path(path).stat()
        digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
