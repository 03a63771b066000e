"""PostgreSQL connections for the event loop itself, kept open between statements."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from itertools import chain
from typing import Any

from django.conf import settings
from django.db import connection
from psycopg import AsyncConnection, OperationalError
from psycopg.pq import TransactionStatus

from retrieval.per_loop import PerLoop

Row = tuple[Any, ...]

# How pgvector looks on where a condition left too little. And statements are planned once: that
# takes as long as running them. What is searched stays in memory: looking rows up one by one costs
# little more than reading all, which the planner would take for cheaper below 100,000 rows.
CONFIGURATION = {
    "hnsw.iterative_scan": "relaxed_order",
    "plan_cache_mode": "force_generic_plan",
    "random_page_cost": "1.1",
}
# Of Django's parameters, those that are about its own cursors.
DJANGO_ONLY = ("context", "cursor_factory", "prepare_threshold")


class Connection(AsyncConnection[Row]):
    """A connection that knows what was set on it."""

    configured: Mapping[str, str] = {}

    async def configure(self, configuration: Mapping[str, str]) -> None:
        """Set what is not set yet, for as long as the connection is open."""
        changed = configuration.items() - self.configured.items()
        if changed:
            calls = ", ".join(["set_config(%s, %s, false)"] * len(changed))
            await self.execute(f"SELECT {calls}".encode(), [*chain.from_iterable(changed)])
            self.configured = {**self.configured, **configuration}


class Connections:
    """At most DATABASE_CONNECTIONS at once, opened when needed; the one used last is used next.

    Not psycopg_pool's: the tasks of its asynchronous pool cannot be cancelled, so that a loop
    that ends waits for them for ever.
    """

    def __init__(self) -> None:
        self._idle: list[Connection] = []
        self._closed = False
        self._free = asyncio.Semaphore(settings.DATABASE_CONNECTIONS)

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """Lend a connection in autocommit. Raises psycopg.OperationalError if there is none."""
        try:
            async with asyncio.timeout(settings.DATABASE_TIMEOUT):
                await self._free.acquire()
        except TimeoutError as error:
            raise OperationalError("All connections are in use.") from error
        try:
            lent = self._idle.pop() if self._idle else await connect()
            try:
                yield lent
            finally:
                usable = lent.info.transaction_status == TransactionStatus.IDLE
                if usable and not self._closed:
                    self._idle.append(lent)
                else:  # lost, or its statement was cancelled
                    await lent.close()
        finally:
            self._free.release()

    async def forget(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            await self._idle.pop().close()

    async def aclose(self) -> None:
        """Close all connections; those in use when they are given back."""
        self._closed = True
        await self.forget()


async def connect() -> Connection:
    """Open a connection to Django's database. Raises psycopg.OperationalError."""
    django: dict[str, Any] = connection.get_connection_params()
    parameters = {name: value for name, value in django.items() if name not in DJANGO_ONLY}
    opened = await Connection.connect(
        **{"connect_timeout": int(settings.DATABASE_TIMEOUT), **parameters},
        autocommit=True,
        prepare_threshold=0,
    )
    try:
        await opened.configure(CONFIGURATION)
    except BaseException:  # cancelled, say
        await opened.close()
        raise
    return opened


connections = PerLoop(Connections, Connections.aclose)
