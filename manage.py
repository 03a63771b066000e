#!/usr/bin/env python
"""Django's command line; finds or starts the embedded PostgreSQL first where it is used."""

import os
import sys

from django.core.management import execute_from_command_line

from ragsite import postgres
from ragsite.environment import BASE_DIR, env

WITHOUT_DATABASE = {"", "help", "version", "check", "collectstatic", "diffsettings"}


def main() -> None:
    """Run a management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")
    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    if command not in WITHOUT_DATABASE and not env.str("DATABASE_URL", default=""):
        try:
            postgres.use(postgres.state_dir(BASE_DIR))
        except postgres.PostgresError as error:
            sys.exit(f"The embedded PostgreSQL did not start: {error}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
