"""Whether PostgreSQL has room for the connections that a process may open."""

from __future__ import annotations

import logging

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


def warn_if_scarce() -> None:
    """Log a warning if the pool of this process may not be filled."""
    pool: int = connection.settings_dict["OPTIONS"]["pool"]["max_size"]
    if (free := room()) < pool:
        logger.warning(
            "PostgreSQL takes %d more connections and this process may open %d. Run fewer "
            "processes, or raise max_connections.",
            free,
            pool,
        )
