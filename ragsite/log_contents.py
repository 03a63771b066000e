"""What is written of errors where nothing that people write may be.

An error's message may hold the question, a passage, or the parameters of a statement. It is
written only if its class says that it does not: errors of our own, which are worded for people,
and those of Python that are about programs. Of others there is the class, and where it happened.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator, MutableMapping
from types import TracebackType
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db import utils as database
from django.http import Http404

OURS = ("chat.", "ragsite.", "retrieval.")
PLAIN = (
    ArithmeticError, AssertionError, AttributeError, ImportError, ImproperlyConfigured, IndexError,
    MemoryError, NameError, OSError, RuntimeError, TypeError, Http404,
)  # fmt: skip
# Classes of PostgreSQL's errors that are about the server, not about a statement's values.
OF_THE_SERVER = ("08", "25", "40", "53", "57", "58")
QUERY = re.compile(r"\?[^\s'\"]+")
ExcInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]


class WithoutContents(logging.Filter):
    """Describes errors among what a record says, and cuts the queries off addresses."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record; let all pass."""
        if isinstance(record.msg, BaseException):
            record.msg = described(record.msg)
        if isinstance(record.args, tuple):
            # Daphne names requests with all of their address.
            served = record.name.partition(".")[0] in ("daphne", "django")
            record.args = tuple(_written(value, served) for value in record.args)
        return True


def _written(value: object, served: bool) -> object:
    if isinstance(value, BaseException):
        return described(value)
    return QUERY.sub("?…", value) if served and isinstance(value, str) else value


def without_contents(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Describe errors among the values of an event of structlog; drop those of calls."""
    if event.get("event") == "stamina.retry_scheduled":
        for name in ("args", "kwargs", "caused_by"):
            event.pop(name, None)
    for name, value in event.items():
        if isinstance(value, BaseException) and name != "exc_info":
            event[name] = described(value)
    return event


def described(error: BaseException) -> str:
    """Return an error's class, with its message if that is no content."""
    if isinstance(error, database.Error) and isinstance(error.__cause__, psycopg.Error):
        error = error.__cause__
    name = type(error).__qualname__
    if isinstance(error, psycopg.Error) and error.sqlstate:
        return f"{name} ({', '.join(_diagnosis(error))})"
    shown = type(error).__module__.startswith(OURS) or isinstance(
        # Without a state it was not the server that refused: it could not be reached.
        error, (*PLAIN, psycopg.OperationalError, database.OperationalError)
    )  # fmt: skip
    text = str(error) if shown else ""
    return f"{name}: {text}" if text else name


def _diagnosis(error: psycopg.Error) -> Iterator[str]:
    """Yield what PostgreSQL says that holds no values."""
    state = error.sqlstate or ""
    yield state
    if state.startswith(OF_THE_SERVER) and error.diag.message_primary:
        yield error.diag.message_primary
    for kind in ("table", "column", "constraint"):
        if name := getattr(error.diag, f"{kind}_name"):
            yield f"{kind} {name}"


def traceback_of(exc_info: ExcInfo) -> str:
    """Return a traceback, causes first, in which errors are described."""
    _, error, _ = exc_info
    return "".join(_parts(error)).rstrip("\n") if error else ""


def _parts(error: BaseException) -> Iterator[str]:
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _parts(before)
        relation = "caused" if error.__cause__ else "was being handled during"
        yield f"\nThis {relation}:\n\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{described(error)}\n"
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _parts(each)
