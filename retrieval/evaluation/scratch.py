"""Tables of their own for what is evaluated: nobody else sees it, and nothing else counts in it.

They are in a schema of PostgreSQL that comes first in this process's search path only. Chunks in
the site's own tables would be in its indexes, and in its counts of how common a term is.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import psycopg
from django.apps import apps
from django.db import connection
from psycopg import sql

from retrieval.search import scope, term_statistics

if TYPE_CHECKING:
    from django.db.backends.postgresql.base import DatabaseWrapper

PREFIX = "evaluation_"
# Names of indexes are made of a space's id, and are looked up in the site's schema too.
SPACE_IDS_APART = 1_000_000


@contextmanager
def scratch_tables() -> Iterator[None]:
    """Let this process find empty tables for documents instead of the site's, until the end.

    What a process that was killed has left is removed.
    """
    # Not one of the pool's: its lock says that the schema is in use.
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as own:
        _remove_left_over(own)
        schema = f"{PREFIX}{secrets.token_hex(8)}"
        own.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [schema])
        try:
            _create(own, schema)
            with _search_path(schema):
                yield
        finally:
            _drop(own, schema)


def _create(own: psycopg.Connection[Any], schema: str) -> None:
    (home,) = own.execute("SELECT current_schema()").fetchone() or ("public",)
    own.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    for model in apps.get_app_config("retrieval").get_models(include_auto_created=True):
        table = model._meta.db_table
        own.execute(
            sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(
                sql.Identifier(schema, table), sql.Identifier(home, table)
            )
        )
    own.execute(
        sql.SQL("ALTER TABLE {} ALTER COLUMN id RESTART WITH {}").format(
            sql.Identifier(schema, "retrieval_embeddingspace"), sql.Literal(SPACE_IDS_APART)
        )
    )


def _drop(own: psycopg.Connection[Any], schema: str) -> None:
    own.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))


def _remove_left_over(own: psycopg.Connection[Any]) -> None:
    known = own.execute(
        "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)", [PREFIX]
    ).fetchall()
    for (schema,) in known:
        free = own.execute(
            "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [schema]
        ).fetchone()
        if free and free[0]:
            _drop(own, schema)


@contextmanager
def _search_path(schema: str) -> Iterator[None]:
    options = connection.settings_dict["OPTIONS"]
    before = options.get("options")
    options["options"] = f"{before or ''} -c search_path={schema},public".strip()
    _forget()
    try:
        yield
    finally:
        if before is None:
            del options["options"]
        else:
            options["options"] = before
        _forget()


def _forget() -> None:
    """Let no connection, and nothing that was counted, go on across the change."""
    connection.close()
    cast("DatabaseWrapper", connection).close_pool()
    term_statistics.forget()
    scope.forget()
