"""The embedded server: who starts it, who stops it, and what it does with what it finds."""

import fcntl
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import psycopg
import pytest

from ragsite import postgres, postgres_programs
from ragsite.environment import BASE_DIR
from ragsite.state import is_root, open_to_others
from tests.servers import wait_until

HOLD = """
import sys
import time
from pathlib import Path
from ragsite import postgres, postgres_programs
postgres.use(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.read()
"""


def connect(state: Path) -> psycopg.Connection:
    settings = postgres.database(state)
    return psycopg.connect(
        host=settings["HOST"],
        port=settings["PORT"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        dbname=settings["NAME"],
    )


def server(state: Path) -> psutil.Process:
    pid = (state / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0]
    return psutil.Process(int(pid))


def hold(state: Path, *prefix: str) -> subprocess.Popen[str]:
    """Start another process that uses the server, until its input is closed."""
    process = subprocess.Popen(
        [*prefix, sys.executable, "-c", HOLD, str(state)],
        cwd=BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_last_process_to_let_go_stops_the_server(state: Path) -> None:
    postgres.use(state)
    running = server(state)
    with hold(state) as other:
        postgres.release(state)
        connect(state).close()
        other.communicate()
    running.wait(timeout=10)


def test_the_log_of_the_server_holds_no_statement_and_no_row(state: Path) -> None:
    postgres.use(state)
    with connect(state) as session:
        session.execute("CREATE TEMPORARY TABLE said (text text CHECK (text <> 'quokka'))")
        for statement in ("INSERT INTO said VALUES ('quokka')", "SELECT 'quokka'::int"):
            with pytest.raises(psycopg.Error), session.transaction():
                session.execute(statement)
    postgres.release(state)
    log = (state / "postgres" / "data" / "server.log").read_text()
    assert "database system is ready" in log
    assert "quokka" not in log


def test_a_user_that_is_killed_does_not_keep_the_server_running(state: Path) -> None:
    postgres.use(state)
    running = server(state)
    with hold(state) as other:
        other.kill()
        other.wait()
    postgres.release(state)
    running.wait(timeout=10)


def test_the_server_stops_when_every_user_was_killed(state: Path) -> None:
    with hold(state) as first, hold(state) as second:
        running = server(state)
        first.kill()
        second.kill()
    running.wait(timeout=10)


def test_the_server_goes_on_while_the_one_who_started_it_was_killed(state: Path) -> None:
    with hold(state) as starter, hold(state) as user:
        starter.kill()
        starter.wait()
        with (state / "postgres" / "guard.lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        connect(state).close()
        user.communicate()


def test_a_second_start_keeps_the_data(state: Path) -> None:
    postgres.use(state)
    with connect(state) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    postgres.release(state)
    postgres.use(state)
    with connect(state) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_a_port_that_was_taken_meanwhile_is_replaced(state: Path) -> None:
    taken = int(postgres.database(state)["PORT"])
    with socket.create_server(("127.0.0.1", taken)):
        postgres.use(state)
        assert int(postgres.database(state)["PORT"]) != taken
        connect(state).close()


def test_a_killed_server_is_started_again_though_its_number_was_given_away(state: Path) -> None:
    postgres.use(state)
    postgres.release(state)
    pid_file = state / "postgres" / "data" / "postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{pid_file.parent}\n0\n")
    postgres.use(state)
    connect(state).close()


def test_a_server_that_is_killed_while_it_is_used_runs_again_at_the_same_address(
    state: Path,
) -> None:
    postgres.use(state)
    with connect(state) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    assert postgres.keep_running(state) is False
    port, killed = postgres.database(state)["PORT"], server(state)
    killed.kill()
    wait_until(lambda: not postgres._running(state / "postgres"), "it has ended")
    assert keep_running(state)
    assert server(state).pid != killed.pid
    assert postgres.database(state)["PORT"] == port
    with connect(state) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def keep_running(state: Path) -> bool:
    """Have the server started again; what is left of the killed one may need a moment to end."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return postgres.keep_running(state)
        except postgres_programs.PostgresError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_an_installation_that_was_cut_short_is_made_anew(state: Path) -> None:
    unfinished = state / "postgres" / "data.new"
    unfinished.mkdir(parents=True)
    (state / "postgres").chmod(0o711)
    (unfinished / "PG_VERSION").touch()
    postgres.use(state)
    connect(state).close()


def test_nobody_connects_without_the_password_which_only_the_owner_reads(state: Path) -> None:
    postgres.use(state)
    mode = (state / "postgres" / "password").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    settings = postgres.database(state)
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(
            host=settings["HOST"],
            port=settings["PORT"],
            user=settings["USER"],
            dbname=settings["NAME"],
            password="wrong",
        )


def test_the_server_does_not_run_as_root(state: Path) -> None:
    postgres.use(state)
    assert server(state).uids().effective != 0


def test_root_is_told_when_the_server_could_not_reach_its_folder(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "is_root", lambda: True)
    state.chmod(0o700)
    with pytest.raises(postgres_programs.PostgresError, match="RAGSITE_STATE"):
        postgres.use(state)


@pytest.mark.skipif(
    not is_root() or not open_to_others(Path(sys.executable).resolve()),
    reason="needs root, and a Python that other users may run",
)
def test_an_ordinary_user_runs_the_server_as_themselves(state: Path) -> None:
    os.chown(state, 12345, 12345)
    with hold(state, "setpriv", "--reuid=12345", "--regid=12345", "--clear-groups") as other:
        assert server(state).uids().effective == 12345
        other.communicate()


@pytest.mark.parametrize(("gigabytes", "expected"), [(0.5, "128MB"), (8, "1024MB"), (64, "2048MB")])
def test_the_server_keeps_a_share_of_the_memory_for_what_it_reads(
    gigabytes: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = SimpleNamespace(total=int(gigabytes * 2**30))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: total)
    assert postgres.shared_buffers() == expected


def test_a_platform_without_the_package_is_told_to_bring_its_own(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_programs.package_folder.cache_clear()
    monkeypatch.setattr(postgres_programs, "PACKAGE", "no_such_package")
    with pytest.raises(postgres_programs.PostgresError, match="DATABASE_URL"):
        postgres.use(state)
