"""The database from async code: the ORM on threads, and the statements of answering without them.

What every question waits for is sent from the event loop itself: a thread, and Django's way from
a queryset to a statement, take longer than PostgreSQL does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple, ParamSpec, TypeVar

import psycopg
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections, connection

from retrieval.connections import Connections, Row, connections

P = ParamSpec("P")
T = TypeVar("T")


class Statement(NamedTuple):
    """SQL with a `%s` for each parameter."""

    sql: str
    params: Sequence[object] = ()


async def fetch(
    sql: str, params: Sequence[object] = (), configuration: Mapping[str, str] | None = None
) -> list[Row]:
    """Return the rows of a statement that only reads; `configuration` holds for it alone.

    Raises django.db.DatabaseError.
    """
    with connection.wrap_database_errors:
        own = await connections.get()
        try:
            return await _fetch(own, sql, params, configuration)
        except psycopg.OperationalError:
            # PostgreSQL may have closed connections while nobody used them, by a restart.
            await own.forget()
            return await _fetch(own, sql, params, configuration)


async def _fetch(
    own: Connections, sql: str, params: Sequence[object], configuration: Mapping[str, str] | None
) -> list[Row]:
    async with own.connection() as lent:
        if not configuration:
            return await (await lent.execute(sql.encode(), params)).fetchall()
        async with lent.transaction():
            for name, value in configuration.items():
                await lent.execute("SELECT set_config(%s, %s, true)", (name, value))
            return await (await lent.execute(sql.encode(), params)).fetchall()


async def execute(*statements: Statement) -> None:
    """Run statements in one transaction. Raises django.db.DatabaseError."""
    own = await connections.get()
    with connection.wrap_database_errors:
        async with own.connection() as lent, lent.transaction():
            for sql, params in statements:
                await lent.execute(sql.encode(), params)


@cache
def _threads() -> ThreadPoolExecutor:
    # asgiref's default is one thread for all sockets of a process: queries would queue behind
    # each other. A thread for each query would exhaust PostgreSQL's connections.
    return ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="orm")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function`, which may use the ORM, on a database thread and return its result.

    Its connection goes back to Django's pool when it returns.
    """

    def call() -> T:
        close_old_connections()
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    return await sync_to_async(call, thread_sensitive=False, executor=_threads())()
