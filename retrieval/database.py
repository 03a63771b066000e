"""The database from async code: the ORM on threads, and the statements of answering without them.

What every question waits for is sent from the event loop itself: a thread, and Django's way from
a queryset to a statement, take longer than PostgreSQL does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import cache
from typing import Any, NamedTuple, ParamSpec, TypeVar

import psycopg
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import close_old_connections, connection
from django.db.models import QuerySet

from retrieval.connections import Connections, Row, connections

P = ParamSpec("P")
T = TypeVar("T")
Params = Sequence[object] | Mapping[str, object]


class Statement(NamedTuple):
    """SQL with a `%s` for each parameter, or a `%(name)s`."""

    sql: str
    params: Params = ()


async def fetch(
    sql: str, params: Params = (), configuration: Mapping[str, str] | None = None
) -> list[Row]:
    """Return the rows of a statement that only reads, with PostgreSQL set to `configuration`.

    What is set stays so on its connection: the next statement that needs it finds it there.

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
    own: Connections, sql: str, params: Params, configuration: Mapping[str, str] | None
) -> list[Row]:
    async with own.connection() as lent:
        if configuration:
            await lent.configure(configuration)
        return await (await lent.execute(sql.encode(), params)).fetchall()


async def rows(queryset: QuerySet[Any, Any]) -> list[Row]:
    """Return the rows of a queryset of values, as psycopg reads them. Raises DatabaseError."""
    try:
        sql, params = queryset.query.sql_with_params()
    except EmptyResultSet:
        return []
    return await fetch(sql, params)


async def execute(*statements: Statement) -> list[Row]:
    """Run statements in one transaction; return the rows of the last one, if it has any.

    Raises django.db.DatabaseError.
    """
    own = await connections.get()
    with connection.wrap_database_errors:
        try:
            return await _execute(own, statements)
        except psycopg.OperationalError:
            # Whoever tries again is not to meet the other connections that were lost.
            await own.forget()
            raise


async def _execute(own: Connections, statements: Sequence[Statement]) -> list[Row]:
    async with own.connection() as lent, AsyncExitStack() as stack:
        if len(statements) > 1:  # one is a transaction by itself
            await stack.enter_async_context(lent.transaction())
        for sql, params in statements:
            last = await lent.execute(sql.encode(), params)
        return await last.fetchall() if last.description else []


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
