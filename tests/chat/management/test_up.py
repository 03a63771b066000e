"""The whole site by one command: what it prints, serves, refuses and leaves behind.

The tests follow one site from its first start to the end of its second, in order.
"""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Callable, Iterator

import httpx
import psutil
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from chat.management.supervisor import WITH_PARENT
from tests.chat.management.conftest import START_SECONDS, Site
from tests.servers import wait_until

PASSWORD = re.compile(r"Password: (\S+)")


@pytest.fixture(scope="module")
def printed(site: Site) -> str:
    """Start the site for the first time."""
    return site.up()


@pytest.fixture
def password(printed: str) -> str:
    found = PASSWORD.search(printed)
    assert found is not None, printed
    return found[1]


@contextlib.contextmanager
def signed_in(site: Site, password: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.address, follow_redirects=True) as client:
        client.get("/accounts/login/")
        token = client.cookies["csrftoken"]
        form = {"username": "admin", "password": password, "csrfmiddlewaretoken": token}
        client.post("/accounts/login/", data=form)
        yield client


def test_the_last_lines_are_address_user_password_and_how_to_reset_it(
    site: Site, printed: str
) -> None:
    lines = printed.strip().splitlines()[-4:]
    assert site.address in lines[0]
    assert lines[1].split() == ["User:", "admin"]
    assert lines[2].startswith("Password:")
    assert lines[3].endswith("manage.py changepassword admin")


def test_it_tells_that_data_goes_outside_of_the_checkout(site: Site, printed: str) -> None:
    assert f"Data is kept in {site.state}" in printed


def test_the_site_is_healthy(site: Site, printed: str) -> None:
    assert httpx.get(f"{site.address}healthz").status_code == 200


def test_the_printed_password_signs_in(site: Site, password: str) -> None:
    with signed_in(site, password) as client:
        assert "sessionid" in client.cookies
        assert client.get("/admin/").status_code == 200


def test_a_second_start_is_refused_and_says_what_runs(site: Site, printed: str) -> None:
    assert site.process is not None
    second = site.command("up", PORT=str(site.port + 1))
    output, _ = second.communicate(timeout=60)
    assert second.returncode == 1
    assert site.address in output.decode()
    assert f"process {site.process.pid}" in output.decode()


def test_a_port_in_use_is_refused_and_says_which_setting_to_change(
    site: Site, printed: str
) -> None:
    (site.state / "other").mkdir(mode=0o711)
    second = site.command("up", RAGSITE_STATE=str(site.state / "other"))
    output, _ = second.communicate(timeout=60)
    assert second.returncode == 1
    assert f"Port {site.port} is used" in output.decode()
    assert "PORT=" in output.decode()


def kill_and_wait(find: Callable[[], psutil.Process | None]) -> None:
    """Kill a process as soon as it is there, and return when another is in its place."""
    wait_until(find, "it runs", START_SECONDS)
    killed = find()
    assert killed is not None
    killed.kill()
    wait_until(lambda: find() not in (None, killed), "another one runs", START_SECONDS)


def test_a_web_server_that_is_killed_is_started_again(site: Site, password: str) -> None:
    kill_and_wait(lambda: site.child("web"))
    wait_until(site.is_healthy, "it serves", START_SECONDS)
    with signed_in(site, password) as client:
        assert client.get("/admin/").status_code == 200


def test_a_worker_that_is_killed_is_started_again(site: Site, printed: str) -> None:
    kill_and_wait(lambda: site.child("worker"))
    assert site.is_healthy()


def test_a_database_that_is_killed_is_started_again_and_the_web_server_goes_on(
    site: Site, password: str
) -> None:
    web = site.child("web")
    kill_and_wait(site.postgres)
    wait_until(site.is_healthy, "it serves", START_SECONDS)
    with signed_in(site, password) as client:
        assert client.get("/admin/").status_code == 200
    assert site.child("web") == web


def test_ctrl_c_closes_sockets_as_restarting_and_leaves_no_process(
    site: Site, password: str
) -> None:
    with signed_in(site, password) as client:
        cookie = f"sessionid={client.cookies['sessionid']}"
    url = site.address.replace("http", "ws") + "ws/chat/"
    origin = site.address.rstrip("/")
    with connect(url, origin=origin, additional_headers={"Cookie": cookie}) as socket:  # type: ignore[arg-type]
        assert site.end(signal.SIGINT) == []
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=5)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012


def test_a_second_start_keeps_everything_and_shows_no_password(site: Site, password: str) -> None:
    printed = site.up()
    assert PASSWORD.search(printed) is None
    with signed_in(site, password) as client:
        assert "sessionid" in client.cookies
    assert site.end(signal.SIGTERM) == []


@pytest.mark.skipif(not WITH_PARENT, reason="needs setpriv, which only Linux has")
def test_when_it_is_killed_itself_it_leaves_no_process(site: Site, printed: str) -> None:
    site.up()
    wait_until(lambda: site.child("worker"), "the worker runs", START_SECONDS)
    processes = site.processes()
    assert site.process is not None
    site.process.kill()
    _, left = psutil.wait_procs(processes, timeout=START_SECONDS)
    assert left == []


def test_nothing_was_written_to_the_home_folder(site: Site, printed: str) -> None:
    assert list(site.home.rglob("*")) == []
