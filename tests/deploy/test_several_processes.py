"""Two web processes behind nginx, with Redis between them: any of them serves any page."""

from __future__ import annotations

import re
import signal
import socket
import threading
import time
from collections.abc import Callable

import httpx
import pytest
from django.conf import settings
from redis import Redis
from websockets.exceptions import ConnectionClosed, InvalidStatus

from retrieval.models import Document
from tests.deploy.conftest import Page, Web
from tests.provider import Provider
from tests.servers import NGINX_CONF, Server, nginx, wait_until

Visit = Callable[..., Page]


@pytest.fixture
def webs(start_web: Callable[..., Web], redis: Server, tower: None) -> list[Web]:
    """Return two web processes that share a Redis."""
    url = f"redis://127.0.0.1:{redis.port}/0"
    return [start_web(REDIS_URL=url, RUN_GRACE_SECONDS="30") for _ in range(2)]


def test_what_is_asked_at_one_is_resumed_and_stopped_at_the_other(
    webs: list[Web], visit: Visit, model: Provider
) -> None:
    first, second = (visit(web.port) for web in webs)
    run = first.ask()["run"]
    model.release(2)
    first.until("citation", count=2)
    second.send(type="resume", run=run, after=0)
    second.until("citation", count=2)
    model.release(1)
    second.until("citation")
    request = model.wait_for_request()
    pressed = time.monotonic()
    second.send(type="stop", run=run)
    assert request.closed.result(10) - pressed < 1
    for page in (first, second):
        assert page.until("done", "error")["finish_reason"] == "cancelled"
    assert first.text == second.text
    assert [frame["seq"] for frame in second.frames] == list(range(1, len(second.frames) + 1))


def test_a_tab_at_one_sees_what_is_asked_at_the_other(
    webs: list[Web], visit: Visit, model: Provider
) -> None:
    first, second = (visit(web.port) for web in webs)
    started = first.ask()
    first.send(type="stop")
    first.until("done")
    second.send(type="watch", conversation=started["conversation"])
    wait_until_watching(second)
    asked = first.ask("And who built the tower?", conversation=started["conversation"])
    model.release(1)
    assert second.until("status")["run"] == asked["run"]
    second.until("citation")
    second.send(type="stop", run=asked["run"])
    assert first.until("done", "error")["finish_reason"] == "cancelled"


def wait_until_watching(page: Page) -> None:
    """Return when what was sent before has been handled: messages of a socket are in order."""
    page.send(type="stop", run="00000000-0000-0000-0000-000000000000")
    assert page.until("error")["code"] == "not_found"


@pytest.mark.parametrize("how", ["ended", "hanging"])
def test_losing_redis_in_mid_answer_changes_nothing_in_a_process(
    webs: list[Web], visit: Visit, model: Provider, redis: Server, how: str
) -> None:
    first, second = (visit(web.port) for web in webs)
    tab = visit(webs[0].port)
    started = first.ask()
    model.release(1)
    first.until("citation")
    redis.stop() if how == "ended" else redis.freeze()
    model.release(1)
    first.until("citation")
    first.send(type="stop")
    assert first.until("done", "error")["finish_reason"] == "cancelled"
    model.wait_for_request().closed.result(10)
    tab.send(type="watch", conversation=started["conversation"])
    wait_until_watching(tab)
    asked = time.monotonic()
    model.release(1)
    again = first.ask("And who built the tower?", conversation=started["conversation"])
    first.until("citation")
    assert tab.until("status")["run"] == again["run"]
    # Another process finds the run in the database, and stops it there.
    second.send(type="resume", run=again["run"], after=0)
    second.until("citation")
    second.send(type="stop", run=again["run"])
    assert first.until("done", "error")["finish_reason"] == "cancelled"
    assert time.monotonic() - asked < 5
    assert visit(webs[0].port).ask()["stage"] == "queued"


@pytest.mark.parametrize("how", ["ended", "hanging"])
def test_when_redis_is_back_processes_hear_each_other_again(
    webs: list[Web], visit: Visit, model: Provider, redis: Server, how: str
) -> None:
    first, second = (visit(web.port) for web in webs)
    started = first.ask()
    redis.stop() if how == "ended" else redis.freeze()
    first.send(type="stop")
    first.until("done")
    wait_until(
        lambda: all("Redis is away" in web.logged() for web in webs),
        "the processes know that it is away",
    )
    redis.start() if how == "ended" else redis.thaw()
    wait_until(lambda: listeners(redis) == len(webs), "the processes listen again")
    second.send(type="watch", conversation=started["conversation"])
    wait_until_watching(second)
    asked = first.ask("And who built the tower?", conversation=started["conversation"])
    assert second.until("status")["run"] == asked["run"]
    first.send(type="stop")
    first.until("done")
    for web in webs:
        wait_until(lambda log=web.logged: "Redis is back" in log(), "it tells that Redis is back")
        assert web.logged().count("Redis is away") == 1


def listeners(redis: Server) -> int:
    """Return how many processes are subscribed to what the site says."""
    with Redis(port=redis.port, socket_timeout=5, decode_responses=True) as client:
        topics = client.pubsub_channels("ragsite.*")
        return sum(count for _, count in client.pubsub_numsub(*topics)) if topics else 0


def test_through_nginx_pages_sockets_and_uploads_work(
    webs: list[Web], visit: Visit, cookie: str, model: Provider
) -> None:
    with nginx(*(web.port for web in webs)) as port:
        url = f"http://127.0.0.1:{port}"
        assert httpx.get(f"{url}/healthz").status_code == 200
        page = visit(port)
        run = page.ask()["run"]
        model.release(1)
        page.until("citation")
        page.send(type="stop", run=run)
        assert page.until("done", "error")["finish_reason"] == "cancelled"
        with pytest.raises(InvalidStatus) as rejected:
            visit(port, origin="https://evil.example")
        assert rejected.value.response.status_code == 403

        with httpx.Client(base_url=url, headers={"Cookie": cookie}) as browser:
            address = "/admin/retrieval/document/upload/"
            form = browser.get(address).text
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
            assert token
            browser.headers["Cookie"] += f"; csrftoken={browser.cookies['csrftoken']}"
            browser.cookies.clear()
            # More than nginx keeps in memory, and than its own default lets through.
            text = b"The bridge of Lund is 300 metres long.\n" * 100_000
            sent = browser.post(
                address,
                data={"csrfmiddlewaretoken": token[1], "new_collection": "Bridges"},
                files={"files": ("bridge.txt", text, "text/plain")},
            )
        assert sent.status_code in (200, 302), sent.text
        version = Document.objects.get(name="bridge.txt").versions.get()
        assert version.size == len(text)


def test_a_process_that_drains_is_passed_over_and_its_answer_goes_on(
    webs: list[Web], visit: Visit, model: Provider
) -> None:
    draining, staying = webs
    with nginx(draining.port, staying.port) as port:
        writing = visit(draining.port)
        run = writing.ask()["run"]
        model.release(1)
        writing.until("citation")
        draining.process.send_signal(signal.SIGTERM)
        wait_until(
            lambda: httpx.get(f"{draining.url}/healthz").status_code == 503, "the first drains"
        )
        for _ in range(4):
            page = visit(port)
            assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
            page.send(type="resume", run=run, after=0)
            page.until("citation")
        page.send(type="stop", run=run)
        assert writing.until("done", "error")["finish_reason"] == "cancelled"
        with pytest.raises(ConnectionClosed):
            writing.until("nothing")
        assert draining.process.wait(20) == 0
        assert visit(port).ask()["stage"] == "queued"


def test_a_killed_process_is_passed_over_at_once(webs: list[Web], visit: Visit) -> None:
    with nginx(*(web.port for web in webs)) as port:
        webs[0].process.kill()
        webs[0].process.wait()
        for _ in range(4):
            assert httpx.get(f"http://127.0.0.1:{port}/accounts/login/").status_code == 200
            visit(port)


def test_nginx_holds_nothing_back_of_a_stream() -> None:
    """What a process has written of a response arrives before the process writes the rest."""
    with socket.create_server(("127.0.0.1", 0)) as upstream:
        arrived = threading.Event()

        def serve() -> None:
            connection, _ = upstream.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                connection.sendall(b"data: first\n\n")
                assert arrived.wait(10)
                connection.sendall(b"data: second\n\n")

        server = threading.Thread(target=serve)
        server.start()
        with (
            nginx(upstream.getsockname()[1]) as port,
            httpx.stream("GET", f"http://127.0.0.1:{port}/", timeout=10) as response,
        ):
            parts = response.iter_bytes()
            assert next(parts) == b"data: first\n\n"
            arrived.set()
            assert b"".join(parts) == b"data: second\n\n"
        server.join()


def test_nginx_takes_the_largest_upload_that_the_site_takes() -> None:
    found = re.search(r"client_max_body_size (\d+)m;", NGINX_CONF.read_text())
    assert found
    most = settings.UPLOAD_MAX_REQUEST_BYTES
    assert most < int(found[1]) * 2**20 <= most + 2**20
