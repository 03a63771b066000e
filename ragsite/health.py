"""Whether the site is up, for load balancers and for `manage.py up`."""

import logging

import psycopg
from django.db import connection
from django.http import HttpRequest, HttpResponse

from chat import runs

logger = logging.getLogger(__name__)


async def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the site is up, 503 when it is about to end or cannot reach its database.

    It connects anew: a pool that is merely busy is no reason to take the site out of service.
    """
    if runs.is_draining():
        return HttpResponse("draining\n", status=503, content_type="text/plain")
    parameters = connection.get_connection_params() | {"connect_timeout": 2}
    parameters.pop("cursor_factory")  # Django's own, for synchronous connections
    try:
        async with await psycopg.AsyncConnection.connect(**parameters) as probe:
            await probe.execute("SELECT 1")
    except psycopg.Error as error:
        logger.warning("The database cannot be reached: %s", error)
        return HttpResponse("database unreachable\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")
