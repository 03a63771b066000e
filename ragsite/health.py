"""Whether the site is up, for load balancers and for `manage.py up`."""

import asyncio
import logging

import psycopg
from django.db import connection
from django.http import HttpRequest, HttpResponse

from chat import runs

logger = logging.getLogger(__name__)


# Whoever asks while a connection is tried waits for it: nobody uses up PostgreSQL's by asking.
_trial: list[asyncio.Task[bool]] = []


async def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the site is up, 503 when it is about to end or cannot reach its database."""
    if runs.is_draining():
        return HttpResponse("draining\n", status=503, content_type="text/plain")
    if not _trial or _trial[0].done():
        _trial[:] = [asyncio.create_task(database_answers(), name="healthz")]
    if not await asyncio.shield(_trial[0]):
        return HttpResponse("database unreachable\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")


async def database_answers() -> bool:
    """Connect anew: a pool that is merely busy is no reason to take the site out of service."""
    parameters = connection.get_connection_params() | {"connect_timeout": 2}
    parameters.pop("cursor_factory")  # Django's own, for synchronous connections
    try:
        async with await psycopg.AsyncConnection.connect(**parameters) as probe:
            await probe.execute("SELECT 1")
    except psycopg.Error as error:
        logger.warning("The database cannot be reached: %s", error)
        return False
    return True
