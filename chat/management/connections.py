"""Whether PostgreSQL has room for the connections that the web server may open."""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import connection

logger = logging.getLogger(__name__)

ROOM = """
SELECT current_setting('max_connections')::int
  - current_setting('superuser_reserved_connections')::int
  - (SELECT count(*) FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())
"""


def room() -> int:
    """Return how many more connections PostgreSQL takes."""
    with connection.cursor() as cursor:
        cursor.execute(ROOM)
        (free,) = cursor.fetchone()
        return int(free)


def most() -> int:
    """Return how many connections the web server may open: Django's and the event loops'."""
    pool: int = connection.settings_dict["OPTIONS"]["pool"]["max_size"]
    processes: int = settings.WEB_PROCESSES
    return processes * (pool + settings.DATABASE_CONNECTIONS)


def warn_if_scarce() -> None:
    """Log a warning if there are fewer connections than the web server may open."""
    if (free := room()) < most():
        logger.warning(
            "PostgreSQL takes %d more connections and the web server may open %d. Run fewer "
            "processes, or raise max_connections.",
            free,
            most(),
        )
