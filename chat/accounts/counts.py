"""What processes count together, such as attempts to sign in, also while Redis is away."""

from __future__ import annotations

import logging
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

MAX_ENTRIES = 100_000
TIMEOUTS = {"socket_connect_timeout": 1, "socket_timeout": 1}


class SharedCounts(RedisCache):
    """Redis; while it does not answer, each process counts by itself, and people can sign in."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, {**params, "OPTIONS": TIMEOUTS})
        self.own = LocMemCache("counts", {"OPTIONS": {"MAX_ENTRIES": MAX_ENTRIES}})

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return a value."""
        return self._where_it_goes("get", *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> None:
        """Store a value."""
        self._where_it_goes("set", *args, **kwargs)

    def add(self, *args: Any, **kwargs: Any) -> bool:
        """Store a value unless there is one; return whether there was none."""
        return bool(self._where_it_goes("add", *args, **kwargs))

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        """Forget a value; return whether there was one."""
        return bool(self._where_it_goes("delete", *args, **kwargs))

    def _where_it_goes(self, name: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return getattr(super(), name)(*args, **kwargs)
        except RedisError as error:
            logger.warning("Redis does not answer (%s): counting by itself.", type(error).__name__)
            return getattr(self.own, name)(*args, **kwargs)
