"""Statements from the event loop, on connections of its own."""

import asyncio

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, OperationalError, connection
from pytest_django import Settings

from retrieval.connections import connections
from retrieval.database import Statement, execute, fetch, in_thread

pytestmark = pytest.mark.django_db(transaction=True)


def end_connection(number: int) -> None:
    """Do what a restart of PostgreSQL does to a connection that nobody uses."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [number])


async def pid() -> int:
    ((number,),) = await fetch("SELECT pg_backend_pid()")
    return int(number)


async def test_a_connection_is_used_again() -> None:
    assert await pid() == await pid()


async def test_reading_goes_on_after_a_restart_of_postgresql() -> None:
    before = await pid()
    await in_thread(end_connection, before)
    assert await pid() != before


async def test_writing_fails_only_once_after_a_restart_of_postgresql() -> None:
    """However many connections were lost: what is tried again gets a new one."""
    held = [fetch("SELECT pg_backend_pid(), pg_sleep(0.2)") for _ in range(3)]
    for ((number, _),) in await asyncio.gather(*held):
        await in_thread(end_connection, int(number))
    with pytest.raises(OperationalError):
        await execute(Statement("SELECT 1"))
    await execute(Statement("SELECT 1"))


async def test_a_statement_finds_what_it_is_configured_by() -> None:
    """Whatever another one set on the same connection."""
    sql = "SELECT current_setting('work_mem')"
    for size in ("123kB", "456kB", "123kB"):
        assert await fetch(sql, (), {"work_mem": size}) == [(size,)]


async def test_statements_are_one_transaction() -> None:
    """Where one fails, none was run; and the error is Django's."""
    insert = (
        "INSERT INTO auth_user (username, password, is_superuser, is_staff, is_active, first_name,"
        " last_name, email, date_joined) VALUES (%s, '', false, false, true, '', '', '', now())"
    )
    with pytest.raises(IntegrityError):
        await execute(Statement(insert, ["ada"]), Statement(insert, ["ada"]))
    assert not await in_thread(User.objects.exists)


async def test_a_statement_that_is_cancelled_takes_its_connection_with_it() -> None:
    """Nobody gets the answer to somebody else's statement."""
    before = await pid()
    waiting = asyncio.ensure_future(fetch("SELECT 'late', pg_sleep(60)"))
    await in_thread(wait_until_active, before)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await fetch("SELECT 'mine'") == [("mine",)]


def wait_until_active(number: int) -> None:
    with connection.cursor() as cursor:
        while True:
            cursor.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", [number])
            if cursor.fetchone() == ("active",):
                return


async def test_more_statements_than_connections_wait_their_turn(settings: Settings) -> None:
    settings.DATABASE_CONNECTIONS = 2
    await connections.aclose()
    pids = await asyncio.gather(*(pid() for _ in range(10)))
    assert len(set(pids)) <= 2


async def test_waiting_for_a_connection_has_an_end(settings: Settings) -> None:
    settings.DATABASE_CONNECTIONS, settings.DATABASE_TIMEOUT = 1, 0.05
    await connections.aclose()
    async with (await connections.get()).connection():
        with pytest.raises(OperationalError):
            await fetch("SELECT 1")


async def test_a_bad_statement_is_djangos_error() -> None:
    with pytest.raises(DatabaseError):
        await fetch("SELECT nonsense")
