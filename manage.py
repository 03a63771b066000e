#!/usr/bin/env python
"""Django's command line; finds or starts the embedded PostgreSQL first where it is used."""

import os
import signal
import sys
from types import FrameType

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from ragsite import postgres
from ragsite.postgres_programs import PostgresError

WITHOUT_DATABASE = {"", "help", "version", "check", "collectstatic", "diffsettings"}


def end(number: int, frame: FrameType | None) -> None:
    """End as at the end of the program, so that the embedded server is let go of."""
    ignore_signals()
    sys.exit(128 + number)


def ignore_signals() -> None:
    """Let no further signal cut short what is done at exit."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def main() -> None:
    """Run a management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")
    signal.signal(signal.SIGTERM, end)
    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    if command not in WITHOUT_DATABASE:
        try:
            postgres.ensure()
        except PostgresError as error:
            sys.exit(f"The embedded PostgreSQL did not start: {error}")
    try:
        _ = settings.DEBUG  # reads them all
    except ImproperlyConfigured as error:
        sys.exit(f"A setting is wrong: {error}")
    try:
        execute_from_command_line(sys.argv)
    finally:
        ignore_signals()


if __name__ == "__main__":
    main()
