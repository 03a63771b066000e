"""Fetching files from servers of all kinds, most of them bad ones."""

import asyncio
import gzip
import io
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pytest_django import Settings
from yarl import URL

from retrieval.ingestion.downloading import Download, download, name_in
from retrieval.ingestion.errors import FetchError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]


@pytest.fixture
async def serve(settings: Settings) -> AsyncIterator[Serve]:
    """Start servers with one handler each, which may be fetched from; return their addresses."""
    servers = []

    async def serve(handler: Handler) -> str:
        application = web.Application()
        application.router.add_get("/{path:.*}", handler)
        server = TestServer(application)
        await server.start_server()
        servers.append(server)
        settings.FETCH_PRIVATE_HOSTS = [*settings.FETCH_PRIVATE_HOSTS, f"127.0.0.1:{server.port}"]
        return str(server.make_url("/"))

    yield serve
    for server in servers:
        await server.close()


def answer(**options: Any) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(**options)

    return handler


async def fetched(url: str) -> tuple[bytes, Download]:
    content = io.BytesIO()
    found = await download(url, content)
    return content.getvalue(), found


async def failed(url: str) -> FetchError:
    with pytest.raises(FetchError) as failure:
        await download(url, io.BytesIO())
    return failure.value


async def test_file_is_fetched_with_its_name_and_type(serve: Serve) -> None:
    disposition = "attachment; filename=x.pdf; filename*=UTF-8''%C3%9Cbung.pdf"
    handler = answer(
        body=b"%PDF", content_type="application/pdf", headers={"Content-Disposition": disposition}
    )
    content, found = await fetched(await serve(handler))
    assert content == b"%PDF"
    assert found == Download(name="Übung.pdf", suffix=".pdf")


async def test_nothing_of_ours_is_sent_along(serve: Serve) -> None:
    seen: list[web.Request] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request)
        return web.Response()

    await fetched(await serve(handler))
    assert set(seen[0].headers) == {
        "Host", "User-Agent", "Accept", "Accept-Encoding", "Connection",
    }  # fmt: skip


async def test_private_address_behind_a_name_is_refused(
    serve: Serve, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a name leads to is judged when the connection is made, so it cannot change between."""
    asked = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request)
        return web.Response()

    url = URL(await serve(handler))

    def lookup(*args: Any, **kwargs: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", url.port))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    error = await failed(str(url.with_host("public.example")))
    assert (error.code, error.retryable) == ("refused-address", False)
    assert "127" not in error.message
    assert not asked
    settings.FETCH_PRIVATE_HOSTS = ["public.example"]
    await fetched(str(url.with_host("public.example")))
    assert len(asked) == 1


async def test_redirects_are_followed(serve: Serve) -> None:
    async def handler(request: web.Request) -> web.Response:
        if request.path == "/new":
            return web.Response(body=b"here")
        raise web.HTTPFound("/new")

    assert (await fetched(await serve(handler)))[0] == b"here"


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("http://127.0.0.1:1/", "bad-address"),
        ("http://[::1]/", "bad-address"),
        ("file:///etc/passwd", "bad-address"),
        ("https://user:secret@example.org/", "bad-address"),
        ("http://[broken", "bad-address"),
        ("http://localhost:1/", "refused-address"),
    ],
)
async def test_redirects_are_checked_each_time(serve: Serve, target: str, code: str) -> None:
    url = await serve(answer(status=302, headers={"Location": target}))
    assert (await failed(url)).code == code


async def test_redirects_end(serve: Serve) -> None:
    count = 0

    async def handler(request: web.Request) -> web.Response:
        nonlocal count
        count += 1
        raise web.HTTPFound(f"/{count}")

    assert (await failed(await serve(handler))).code == "too-many-redirects"
    assert count == 6


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (404, "not-found", False),
        (410, "not-found", False),
        (401, "forbidden", False),
        (403, "forbidden", False),
        (400, "http-error", False),
        (429, "http-error", True),
        (500, "http-error", True),
        (503, "http-error", True),
        (204, "http-error", False),
        (304, "http-error", False),
    ],
)
async def test_errors_of_servers(serve: Serve, status: int, code: str, *, retryable: bool) -> None:
    error = await failed(await serve(answer(status=status)))
    assert (error.code, error.retryable) == (code, retryable)
    assert "127.0.0.1" in error.message


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [("7", 7, 7), ("Fri, 01 Jan 2999 00:00:00 GMT", 1e9, 1e12), ("soon", None, None)],
)
async def test_wait_that_a_server_asks_for(
    serve: Serve, value: str, least: float | None, most: float | None
) -> None:
    error = await failed(await serve(answer(status=503, headers={"Retry-After": value})))
    if least is None or most is None:
        assert error.retry_after is None
    else:
        assert error.retry_after is not None
        assert least <= error.retry_after <= most


async def test_size_that_is_said_is_refused_at_once(serve: Serve, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    assert (await failed(await serve(answer(body=b"x" * 1001)))).code == "too-large"


async def test_size_that_is_not_said_is_limited(serve: Serve, settings: Settings) -> None:
    """A stream that never ends is cut off."""
    settings.UPLOAD_MAX_BYTES = 200_000
    ended = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 10_000)
        finally:
            ended.set()

    error = await failed(await serve(handler))
    assert (error.code, error.retryable) == ("too-large", False)
    async with asyncio.timeout(5):
        await ended.wait()


def packed(content: bytes, form: str) -> Handler:
    body = gzip.compress(content) if form == "gzip" else zlib.compress(content)
    return answer(body=body, headers={"Content-Encoding": form})


@pytest.mark.parametrize("form", ["gzip", "deflate"])
async def test_packed_answers_are_unpacked(serve: Serve, form: str) -> None:
    assert (await fetched(await serve(packed(b"text" * 100_000, form))))[0] == b"text" * 100_000


async def test_bomb_is_limited_by_what_it_unpacks_to(serve: Serve, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 200_000
    written = 0

    class Counted(io.BytesIO):
        def write(self, data: Any) -> int:
            nonlocal written
            written += len(data)
            return len(data)

    url = await serve(packed(bytes(50 * 2**20), "gzip"))
    with pytest.raises(FetchError, match="larger than"):
        await download(url, Counted())
    assert written <= 200_000


async def test_damaged_and_unknown_packing_is_said(serve: Serve) -> None:
    for form, body in (("gzip", b"\x1f\x8bnothing"), ("br", b"x")):
        url = await serve(answer(body=body, headers={"Content-Encoding": form}))
        assert (await failed(url)).code == "http-error"


async def test_time_is_limited_however_slowly_it_comes(serve: Serve, settings: Settings) -> None:
    settings.FETCH_TIMEOUT_SECONDS = 0.3

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x")
            await asyncio.sleep(0.02)

    error = await failed(await serve(handler))
    assert (error.code, error.retryable) == ("timeout", True)


async def test_connection_that_breaks_off_is_tried_again(serve: Serve) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"x")
        assert request.transport
        request.transport.close()
        return response

    error = await failed(await serve(handler))
    assert (error.code, error.retryable) == ("unreachable", True)


async def test_nobody_listens(settings: Settings) -> None:
    settings.FETCH_PRIVATE_HOSTS = ["127.0.0.1"]
    error = await failed("http://127.0.0.1:1/")
    assert (error.code, error.retryable) == ("unreachable", True)


@pytest.mark.parametrize(
    ("number", "retryable"), [(socket.EAI_NONAME, False), (socket.EAI_AGAIN, True)]
)
async def test_host_that_does_not_exist_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, number: int, *, retryable: bool
) -> None:
    def lookup(*args: Any, **kwargs: Any) -> list[Any]:
        raise socket.gaierror(number, "no")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    error = await failed("http://missing.example/")
    assert (error.code, error.retryable) == ("unreachable", retryable)
    assert error.message == "There is no host missing.example."


@pytest.mark.parametrize(
    ("url", "download", "expected"),
    [
        ("https://example.org/", None, ("", "example.org")),
        ("https://example.org/", Download("", ".html"), ("", "example.org.html")),
        ("https://example.org/a/b.pdf", None, ("example.org/a", "b.pdf")),
        ("https://example.org/a/b.pdf", Download("", ".html"), ("example.org/a", "b.pdf")),
        ("https://example.org/a/%C3%BC", Download("", ".html"), ("example.org/a", "ü.html")),
        ("https://example.org/v1.2", Download("", ".html"), ("example.org", "v1.2.html")),
        ("https://example.org/get?id=1", Download("r.pdf", ".pdf"), ("example.org", "r.pdf")),
        ("https://example.org/../../x", None, ("example.org", "x")),
    ],
)
def test_names_by_host_and_path(
    url: str, download: Download | None, expected: tuple[str, str]
) -> None:
    assert name_in(URL(url), download) == expected
