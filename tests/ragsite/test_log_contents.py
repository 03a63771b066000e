"""What a log says of errors, whose messages may hold what people write."""

from __future__ import annotations

import logging

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from ragsite.log_contents import (
    WithoutContents,
    described,
    traceback_of,
    without_contents,
)
from retrieval.backends.base import BackendError

SECRET = "quokka"


@pytest.mark.parametrize(
    ("error", "written"),
    [
        (ValueError(SECRET), "ValueError"),
        (KeyError(SECRET), "KeyError"),
        (UnicodeEncodeError("ascii", SECRET, 0, 1, "not"), "UnicodeEncodeError"),
        (psycopg.DataError(SECRET), "DataError"),
        (DatabaseError(SECRET), "DatabaseError"),
        (TypeError("not a str"), "TypeError: not a str"),
        (ConnectionRefusedError(111, "refused"), "ConnectionRefusedError: [Errno 111] refused"),
        (psycopg.OperationalError("port 5432 refused"), "OperationalError: port 5432 refused"),
        (BackendError("Too slow.", retryable=True, code="timeout"), "BackendError: Too slow."),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_a_message_is_written_if_it_is_of_programs(error: Exception, written: str) -> None:
    assert described(error) == written


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("SELECT 'quokka'::int", "InvalidTextRepresentation (22P02)"),
        ("SELECT to_tsquery('quokka &&')", "SyntaxError (42601)"),
        ("INSERT INTO auth_group (id, name) VALUES (1, NULL)", "NotNullViolation (23502, table"),
        (
            "INSERT INTO auth_group (name) VALUES ('quokka'), ('quokka')",
            "UniqueViolation (23505, table auth_group, constraint auth_group_name",
        ),
        (
            "DO $$ BEGIN RAISE EXCEPTION 'No space' USING ERRCODE = 'disk_full'; END $$",
            "DiskFull (53100, No space)",
        ),
    ],
)
def test_of_a_statement_no_value_is_written(statement: str, written: str) -> None:
    with (
        pytest.raises(DatabaseError) as caught,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    for line in (described(caught.value), traceback_of(caught._excinfo or (None, None, None))):
        assert written in line
        assert SECRET not in line.replace(repr(statement), "")


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except type(error) as caught:
        return caught


def test_a_traceback_names_causes_and_parts_with_the_lines_they_come_from() -> None:
    cause = raised(ValueError(SECRET))
    group = raised(ExceptionGroup(SECRET, [raised(KeyError(SECRET)), TypeError("kept")]), cause)
    text = traceback_of((type(group), group, group.__traceback__))
    assert SECRET not in text
    for part in ("ValueError\n", "This caused:", "ExceptionGroup\n", "KeyError\n", "kept"):
        assert part in text
    assert "raise error from cause" in text


def test_errors_among_the_arguments_of_a_record_are_described() -> None:
    record = logging.LogRecord(
        "chat", logging.ERROR, "", 0, "%s: %s", (1, ValueError(SECRET)), None
    )
    assert WithoutContents().filter(record)
    assert record.getMessage() == "1: ValueError"
    alone = logging.LogRecord("chat", logging.ERROR, "", 0, ValueError(SECRET), (), None)
    WithoutContents().filter(alone)
    assert alone.getMessage() == "ValueError"


def test_addresses_lose_their_queries() -> None:
    known = ("<WebRequest uri='/admin/chat/conversation/?q=quokka' clientproto=HTTP/1.1>",)
    record = logging.LogRecord(
        "daphne.server", logging.WARNING, "", 0, "%s was killed", known, None
    )
    WithoutContents().filter(record)
    assert record.getMessage().startswith("<WebRequest uri='/admin/chat/conversation/?…' client")


def test_values_of_events_are_described_and_those_of_calls_dropped() -> None:
    retried = {"event": "stamina.retry_scheduled", "args": [SECRET], "caused_by": SECRET, "n": 1}
    assert without_contents(None, "", retried) == {"event": "stamina.retry_scheduled", "n": 1}
    failed = {"event": "failed", "error": ValueError(SECRET)}
    assert without_contents(None, "", failed) == {"event": "failed", "error": "ValueError"}
