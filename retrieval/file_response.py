"""A stored file as a response: in parts, conditionally, and never as a page of this site."""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, http_date, parse_http_date_safe

from retrieval.text.cleaning import visible

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

    from retrieval.models import DocumentVersion

PIECE = 64 * 1024
# What Windows does not take in a name, and its names of devices, whatever follows the first dot.
UNSAVEABLE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\ud800-\udfff]')
RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)
RANGE = re.compile(r"bytes=(\d*)-(\d*)")
PDF = "application/pdf"
# What a browser shows without running any of it.
SHOWN = {PDF, "image/png", "image/jpeg", "image/gif", "image/webp"}
# Texts are shown as they are, whatever they are written in.
TEXTS = {"text/plain", "text/markdown", "text/csv", "text/tab-separated-values", "text/vtt"}
# Others whose type is told, but that are only saved. All else, HTML and SVG too, is only bytes.
SAVED = re.compile(
    r"application/(vnd\.(openxmlformats-officedocument|oasis\.opendocument|ms-)[\w.+-]*"
    r"|msword|rtf|epub\+zip|json)|message/rfc822"
)
# A PDF's own scripts cannot leave it, and browsers do not show one in a sandbox. The style that a
# browser gives a picture is stopped, too: it stands in the corner, and that is all.
POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'"


def file_response(
    request: HttpRequest, version: DocumentVersion, *, download: bool = False
) -> HttpResponseBase:
    """Answer a request for a version's file, which is there: whole, a part, or not modified."""
    etag = f'"{version.sha256}"'
    modified = int(version.created_at.timestamp())
    content_type = _content_type(version)
    shown = not download and content_type.partition(";")[0] in {*SHOWN, "text/plain"}
    name = saved_as(version.document.name.rpartition("/")[2])
    disposition = content_disposition_header(as_attachment=not shown, filename=name)
    headers = {
        "ETag": etag,
        "Last-Modified": http_date(modified),
        "Accept-Ranges": "bytes",
        "Content-Disposition": disposition or "attachment",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": POLICY if content_type == PDF else f"sandbox; {POLICY}",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    response: HttpResponseBase | None
    response = get_conditional_response(request, etag=etag, last_modified=modified)
    if response is None:
        part = _part(request, version, headers)
        response = part or _streamed(request, version, 0, version.size, 200)
        response.headers.setdefault("Content-Type", content_type)
    for header, value in headers.items():
        response.headers.setdefault(header, value)
    return response


def saved_as(name: str) -> str:
    """Return a document's name as any system can save it: without its signs and devices' names."""
    plain = UNSAVEABLE.sub("_", visible(name)).strip(". ") or "document"
    return f"_{plain}" if RESERVED.match(plain) else plain


def _part(
    request: HttpRequest, version: DocumentVersion, headers: dict[str, str]
) -> HttpResponseBase | None:
    """Answer a request for one part; None if the whole is to be sent, as for anything unusual."""
    asked = RANGE.fullmatch(request.headers.get("Range", "").strip())
    condition = request.headers.get("If-Range")
    if not asked or asked[0] == "bytes=-" or request.method != "GET":
        return None
    if condition is not None and not _is_same(condition, headers):
        return None
    size = version.size
    first, last = asked.groups()
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last) + 1, size) if first and last else size
    if first and last and int(last) < int(first):
        return None
    if start >= size:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    response = _streamed(request, version, start, end, 206)
    response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response


def _is_same(condition: str, headers: dict[str, str]) -> bool:
    if condition.startswith(('"', "W/")):
        return condition == headers["ETag"]
    return parse_http_date_safe(condition) == parse_http_date_safe(headers["Last-Modified"])


def _streamed(
    request: HttpRequest, version: DocumentVersion, start: int, end: int, status: int
) -> HttpResponseBase:
    pieces = _pieces(version, start, end)
    response: HttpResponseBase
    if request.method == "HEAD":
        response = HttpResponse(status=status)
    else:
        response = StreamingHttpResponse(pieces, status=status)
    del response.headers["Content-Type"]
    response.headers["Content-Length"] = str(end - start)
    return response


async def _pieces(version: DocumentVersion, start: int, end: int) -> AsyncIterator[bytes]:
    """Read a part of a file in a thread, a piece at a time: a list of all would be in memory."""
    file = await asyncio.to_thread(version.file.storage.open, str(version.file.name))
    try:
        await asyncio.to_thread(file.seek, start)
        while start < end and (
            piece := await asyncio.to_thread(file.read, min(PIECE, end - start))
        ):
            start += len(piece)
            yield piece
    finally:
        await asyncio.to_thread(file.close)


def _content_type(version: DocumentVersion) -> str:
    """Return the type to send a file as: what could be a page, or is not known, is only bytes."""
    known = version.media_type
    if known in TEXTS and _is_utf8(version):
        return "text/plain; charset=utf-8"
    if known in SHOWN or SAVED.fullmatch(known):
        return known
    return "application/octet-stream"


def _is_utf8(version: DocumentVersion) -> bool:
    with version.file.storage.open(str(version.file.name)) as file:
        head = file.read(PIECE)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
