"""The doors of the site: pages, static files, health, and who may knock at the socket."""

import re
import socket
from pathlib import Path

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.db import connection
from django.test import AsyncClient

from ragsite.asgi import application

MODULES = sorted(path.name for path in (settings.BASE_DIR / "static" / "js").glob("*.js"))
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^;"'(]*["'](\.[^"']+)["']""", re.MULTILINE)


async def fetch(url: str) -> tuple[dict[str, str], str]:
    response = await AsyncClient().get(url)
    assert response.status_code == 200, url
    body = b"".join([part async for part in response.streaming_content])  # type: ignore[union-attr]
    return dict(response.headers), body.decode()


@pytest.mark.parametrize(
    "origin",
    [
        [(b"origin", b"https://evil.example")],
        [(b"origin", b"http://127.0.0.1.evil.example")],
        [(b"origin", b"http://127.0.0.1:9000")],
        [(b"origin", b"null")],
        [],
    ],
)
async def test_a_foreign_origin_is_rejected_at_the_handshake(
    origin: list[tuple[bytes, bytes]],
) -> None:
    headers = [(b"host", b"127.0.0.1"), *origin]
    socket = WebsocketCommunicator(application, "/ws/chat/", headers=headers)
    connected, _ = await socket.connect()
    assert not connected


@pytest.mark.django_db(transaction=True)
async def test_the_sites_own_origin_is_let_in_on_any_port() -> None:
    headers = [(b"host", b"127.0.0.1:8123"), (b"origin", b"http://127.0.0.1:8123")]
    socket = WebsocketCommunicator(application, "/ws/chat/", headers=headers)
    connected, _ = await socket.connect()
    assert connected
    await socket.disconnect()


@pytest.mark.django_db(transaction=True)
async def test_an_unknown_socket_is_rejected() -> None:
    headers = [(b"host", b"127.0.0.1"), (b"origin", b"http://127.0.0.1")]
    connected, _ = await WebsocketCommunicator(application, "/ws/none/", headers=headers).connect()
    assert not connected


@pytest.mark.parametrize("name", MODULES)
async def test_modules_import_each_other_by_hashed_names_that_never_expire(name: str) -> None:
    headers, body = await fetch(staticfiles_storage.url(f"js/{name}"))
    assert "immutable" in headers["Cache-Control"]
    assert "javascript" in headers["Content-Type"]
    for imported in IMPORT.findall(body):
        assert re.search(r"\.[0-9a-f]{12}\.js$", imported), imported
        url = (Path("/static/js") / imported).as_posix()
        await fetch(re.sub(r"[^/]+/\.\./", "", url))


async def test_a_file_by_its_plain_name_is_asked_for_again() -> None:
    headers, _ = await fetch(f"/static/js/{MODULES[0]}")
    assert "immutable" not in headers["Cache-Control"]


async def test_types_in_comments_are_left_alone() -> None:
    _, body = await fetch(staticfiles_storage.url("django_htmx/ext/hx-sse-2.js"))
    assert '@type {import("../htmx").HtmxInternalApi}' in body


async def test_the_site_is_healthy() -> None:
    response = await AsyncClient().get("/healthz")
    assert response.status_code == 200


async def test_the_site_is_not_healthy_without_its_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setitem(connection.settings_dict, "PORT", str(port))
    response = await AsyncClient().get("/healthz")
    assert response.status_code == 503
    assert str(port) not in response.content.decode()
