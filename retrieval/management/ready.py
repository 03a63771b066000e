"""A command that finds the database migrated and the embedding model prepared."""

from __future__ import annotations

import json
import logging
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from retrieval import backends
from retrieval.backends.base import BackendError
from retrieval.ingestion import spaces
from retrieval.models import EmbeddingSpace, SpaceState

logger = logging.getLogger(__name__)

MINIMUM_POSTGRES = 15
MINIMUM_PGVECTOR = (0, 8)
# Held while migrating, so that two commands that start together do not both migrate.
MIGRATION_LOCK = 0x72616773


class ReadyCommand(BaseCommand):
    """Migrates the embedded database and prepares the model before `handle` is called.

    A database of one's own is never migrated, only checked. Every such command has `--json`: then
    nothing but what `emit` writes goes to standard output, and what `say` writes to standard error.
    """

    requires_migrations_checks = True
    needs_model = True
    """False for commands that neither embed nor count tokens."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Add `--json` to whatever `add_arguments` of the command adds."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--json", action="store_true", help="Write JSON, and nothing else, to standard output."
        )
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command, remembering whether it is to write JSON."""
        self.json = bool(options.get("json"))
        return super().execute(*args, **options)

    def say(self, text: str) -> None:
        """Tell a person how far the command is."""
        if self.json:
            self.stderr.write(text, style_func=str)
            self.stderr.flush()
        else:
            self.stdout.write(text)
            self.stdout.flush()

    def emit(self, result: Any) -> None:
        """Write a result as one line of JSON, at once."""
        self.stdout.write(json.dumps(result, ensure_ascii=False, default=str))
        self.stdout.flush()

    def check_migrations(self) -> None:
        """Make ready what the command needs, where Django would warn of missing migrations.

        Raises CommandError, saying what to do, if that is not possible.
        """
        check_database()
        if missing_migrations():
            self.migrate()
        if self.needs_model:
            prepare_model()

    def migrate(self) -> None:
        """Apply missing migrations to the embedded database."""
        if not settings.EMBEDDED_POSTGRES:
            raise CommandError(
                "The database lacks migrations. Stop the site and run: manage.py migrate"
            )
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
            try:
                if missing_migrations():
                    self.say("Preparing the database …")
                    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])


def check_database() -> None:
    """Raise CommandError if the database cannot be reached, or is older than what is needed."""
    # Not by way of Django's pool, which would retry for long and then say only "timeout".
    parameters = {"connect_timeout": 10} | connection.get_connection_params()
    try:
        with psycopg.connect(**parameters) as probe:
            version = probe.info.server_version
            row = probe.execute(
                "SELECT coalesce(installed_version, default_version) AS version"
                " FROM pg_available_extensions WHERE name = 'vector'"
            ).fetchone()
    except psycopg.OperationalError as error:
        raise CommandError(f"The database cannot be reached: {error}") from error
    if version < MINIMUM_POSTGRES * 10_000:
        raise CommandError(
            f"The database is PostgreSQL {version // 10_000}; "
            f"{MINIMUM_POSTGRES} or later is needed."
        )
    found = row[0] if row else None
    if found is None or tuple(map(int, found.split(".")[:2])) < MINIMUM_PGVECTOR:
        needed = ".".join(map(str, MINIMUM_PGVECTOR))
        raise CommandError(
            f"PostgreSQL needs the extension pgvector {needed} or later; "
            f"{f'it has {found}' if found else 'it is not installed on the server'}."
        )


def missing_migrations() -> bool:
    """Whether the database lacks migrations that the code has."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def prepare_model() -> None:
    """Make ready the embedding model of the settings, and that of what is searched.

    Raises CommandError if the provider of the settings' fails.
    """
    try:
        backends.embedder().prepare()
    except BackendError as error:
        raise CommandError(error.message) from error
    for space in EmbeddingSpace.objects.filter(state=SpaceState.ACTIVE):
        try:
            spaces.embedder_of(space).prepare()
        except BackendError as error:  # the words of documents can be searched for all the same
            logger.warning("%s", error.message)
