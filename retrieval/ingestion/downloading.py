"""Fetching a file by HTTP: nothing is believed of the server, and nothing of it takes for ever."""

from __future__ import annotations

import asyncio
import mimetypes
import re
import socket
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import PurePosixPath
from typing import IO

import aiohttp
from django.conf import settings
from django.utils import timezone
from yarl import URL

from retrieval.ingestion.addresses import Gate, checked_url
from retrieval.ingestion.errors import FetchError
from retrieval.ingestion.incoming import UploadError, too_large

MAX_REDIRECTS = 5
CONNECT_SECONDS = 10
SILENT_SECONDS = 20
PIECE = 64 * 1024
SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}")
REDIRECTS = {301, 302, 303, 307, 308}
PASSING = {408, 425, 429, 500, 502, 503, 504}
HEADERS = {"User-Agent": "ragsite", "Accept": "*/*", "Accept-Encoding": "identity"}
# Packings that servers use though they were asked not to; 47: gzip or zlib, as it begins.
PACKINGS = {"gzip": 47, "x-gzip": 47, "deflate": 47}


@dataclass(frozen=True)
class Download:
    """What is known of a file that was fetched; `name` is empty if the server gave it none."""

    name: str
    suffix: str


async def download(address: str, into: IO[bytes]) -> Download:
    """Write the file at an address to `into`. Raises FetchError."""
    url = URL(address)
    try:
        async with asyncio.timeout(settings.FETCH_TIMEOUT_SECONDS):
            for _ in range(MAX_REDIRECTS + 1):
                found = await _ask(url, into)
                if isinstance(found, Download):
                    return found
                url = found
    except TimeoutError as error:
        message = f"{url.host} took longer than {settings.FETCH_TIMEOUT_SECONDS} seconds."
        raise FetchError("timeout", message, retryable=True) from error
    raise FetchError("too-many-redirects", f"The address leads on more than {MAX_REDIRECTS} times.")


async def _ask(url: URL, into: IO[bytes]) -> Download | URL:
    """Ask one server; return the file, written, or the address that it leads to."""
    try:
        url = checked_url(str(url))
    except UploadError as error:
        raise FetchError(error.code, error.message) from error
    gate = Gate(url)
    # Names are looked up for each connection, and each is made to an address that was checked.
    connector = aiohttp.TCPConnector(
        socket_factory=gate.socket,
        resolver=aiohttp.ThreadedResolver(),
        use_dns_cache=False,
        force_close=True,
    )
    with _errors(url, gate):
        async with (
            aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENT_SECONDS
                ),
                headers=HEADERS,
                auto_decompress=False,
            ) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status in REDIRECTS and (location := response.headers.get("Location")):
                return url.join(URL(location))
            _refuse(response)
            await _receive(response, into)
            return Download(_name(response), _suffix(response))


@contextmanager
def _errors(url: URL, gate: Gate) -> Iterator[None]:
    """Turn what the client raises into FetchError."""
    host = url.host
    try:
        yield
    except aiohttp.ClientConnectorDNSError as error:
        # A name that does not exist will not exist in a minute either; a resolver may come back.
        missing = getattr(error.os_error, "errno", None) != socket.EAI_AGAIN
        message = f"There is no host {host}."
        raise FetchError("unreachable", message, retryable=not missing) from error
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
        message = f"The certificate of {host} is not valid."
        raise FetchError("unreachable", message) from error
    except (aiohttp.InvalidURL, ValueError) as error:
        raise FetchError("bad-address", f"{host} leads to what is no web address.") from error
    except aiohttp.ClientConnectorError as error:
        if gate.refused:
            message = f"{host} is in a private network, which files are not fetched from."
            raise FetchError("refused-address", message) from error
        raise FetchError("unreachable", f"{host} does not answer.", retryable=True) from error
    except aiohttp.ClientError as error:
        message = f"The connection to {host} broke off."
        raise FetchError("unreachable", message, retryable=True) from error


def _refuse(response: aiohttp.ClientResponse) -> None:
    """Raise FetchError unless the server sends the file."""
    host, status = response.url.host, response.status
    if status in {404, 410}:
        raise FetchError("not-found", f"There is no such page on {host}.")
    if status in {401, 403}:
        raise FetchError("forbidden", f"{host} shows this to certain people only.")
    if status != 200:
        raise FetchError(
            "http-error",
            f"{host} answered with the error {status}.",
            retryable=status in PASSING,
            retry_after=_seconds(response.headers.get("Retry-After", "")),
        )
    if (response.content_length or 0) > settings.UPLOAD_MAX_BYTES:
        raise _too_large()


def _seconds(value: str) -> float | None:
    """Return what Retry-After says, as seconds."""
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - timezone.now()).total_seconds())
    except (ValueError, TypeError):
        return None


async def _receive(response: aiohttp.ClientResponse, into: IO[bytes]) -> None:
    size = 0
    async for piece in _unpacked(response):
        size += len(piece)
        if size > settings.UPLOAD_MAX_BYTES:
            raise _too_large()
        await asyncio.to_thread(into.write, piece)


async def _unpacked(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Yield what a response holds, in pieces of bounded size however it is packed."""
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing == "identity":
        async for piece in response.content.iter_chunked(PIECE):
            yield piece
        return
    if packing not in PACKINGS:
        raise FetchError("http-error", f"{response.url.host} sends the file in an unknown form.")
    unpacker = zlib.decompressobj(PACKINGS[packing])
    try:
        async for piece in response.content.iter_chunked(PIECE):
            while piece:
                yield unpacker.decompress(piece, PIECE)
                piece = unpacker.unconsumed_tail  # noqa: PLW2901
        yield unpacker.flush()
    except zlib.error as error:
        message = f"What {response.url.host} sent is damaged."
        raise FetchError("http-error", message) from error


def _name(response: aiohttp.ClientResponse) -> str:
    disposition = response.content_disposition
    return (disposition.filename or "") if disposition else ""


def _suffix(response: aiohttp.ClientResponse) -> str:
    """Return the suffix that a file of this media type has, nothing if the type says nothing."""
    if response.content_type in {"application/octet-stream", "application/x-download"}:
        return ""
    return mimetypes.guess_extension(response.content_type) or ""


def name_in(url: URL, download: Download | None = None) -> tuple[str, str]:
    """Return the folder and the name of what an address leads to: by host and path.

    A name that the server gave goes before the path's, which may be that of a program.
    """
    host = url.host or ""
    *parts, last = [part for part in url.path.split("/") if part.strip(". ")] or [""]
    name = (download.name if download else "") or last
    lacks_suffix = not name or not SUFFIX.fullmatch(PurePosixPath(name).suffix)
    suffix = download.suffix if download and lacks_suffix else ""
    return ("/".join([host, *parts]), name + suffix) if name else ("", host + suffix)


def _too_large() -> FetchError:
    return FetchError("too-large", too_large().message)
