"""Running the ORM from async code, on a bounded number of threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")


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
