"""Files in both directions through nginx and a real web process: whole, in parts, too large."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing

import httpx
import psutil
import pytest
from django.core.files.base import ContentFile

from retrieval.ingestion.incoming import store
from tests import conversations
from tests.deploy.conftest import Web
from tests.servers import nginx

MEGABYTE = 2**20
CONTENT = bytes(range(256)) * 4 * 1024 * 40  # 40 MB


@pytest.fixture
def web(start_web: Callable[..., Web]) -> Web:
    return start_web(UPLOAD_MAX_BYTES=str(MEGABYTE // 2), UPLOAD_MAX_REQUEST_BYTES=str(MEGABYTE))


@pytest.fixture
def site(web: Web, cookie: str) -> Iterator[httpx.Client]:
    """Return a client of Ada's behind nginx."""
    with (
        nginx(web.port) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Cookie": cookie}) as client,
    ):
        yield client


@pytest.fixture
def file(transactional_db: None) -> Iterator[str]:
    """Return the address of a large file."""
    version = conversations.document("# Towers")
    store(version, "Türme.pdf", ContentFile(CONTENT))
    version.media_type = "application/pdf"
    version.save()
    yield f"/files/{version.pk}/"
    version.file.storage.delete(str(version.file.name))


def test_files_come_whole_and_in_parts_and_too_large_ones_are_refused_on_their_way(
    site: httpx.Client, web: Web, file: str
) -> None:
    whole = site.get(file)
    assert (whole.status_code, whole.content == CONTENT) == (200, True)
    assert whole.headers["Content-Disposition"].startswith("inline")
    part = site.get(file, headers={"Range": "bytes=-3"})
    assert (part.status_code, part.content) == (206, CONTENT[-3:])
    again = site.get(file, headers={"If-None-Match": whole.headers["ETag"]})
    assert again.status_code == 304
    with closing(socket.create_connection(("127.0.0.1", web.port))) as sender:
        sender.sendall(
            b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: text/plain\r\nContent-Length: 9999999\r\n\r\n"
        )
        assert sender.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 413"
    assert site.get("/healthz").status_code == 200


def test_who_does_not_read_does_not_fill_the_memory(
    site: httpx.Client, web: Web, file: str, cookie: str
) -> None:
    """A file is read as fast as its reader takes it, not faster."""
    process = psutil.Process(web.process.pid)
    before = process.memory_info().rss
    with closing(socket.create_connection(("127.0.0.1", web.port))) as reader:
        reader.sendall(
            f"GET {file} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode()
        )
        assert reader.recv(15, socket.MSG_WAITALL) == b"HTTP/1.1 200 OK"
        # The site answers others meanwhile, which shows that it got on.
        for _ in range(20):
            assert site.get("/healthz").status_code == 200
        assert process.memory_info().rss - before < 20 * MEGABYTE
