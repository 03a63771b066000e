"""What kind of file some bytes are: found from the bytes; the name decides only between texts."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import PurePath

import kreuzberg

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.plain_text import decode

OFFICE = "application/vnd.openxmlformats-officedocument"
OPENDOCUMENT = "application/vnd.oasis.opendocument"
ZIP_TYPES = (OFFICE, OPENDOCUMENT, "application/epub+zip")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OUTLOOK = "application/vnd.ms-outlook"
MAIL_TYPE = "message/rfc822"
# Types whose bytes are text in some encoding; kreuzberg gets them as UTF-8.
TEXT_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".ipynb": "application/x-ipynb+json",
    ".rst": "text/x-rst",
    ".org": "text/x-org",
    ".tex": "application/x-latex",
    ".vtt": "text/vtt",
    ".srt": "text/vtt",
}
# More than this from one part, at more than this ratio, is a bomb: real documents reach 1:50.
BOMB_BYTES, BOMB_RATIO = 32 * 2**20, 200
UNPACKED_BYTES = 2**30
ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
HTML = re.compile(
    r"\s*(<!--.*?-->\s*)*(<!doctype html|<html|<head|<body)", re.IGNORECASE | re.DOTALL
)
MAIL = re.compile(
    r"(?:[\w-]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*?(?:From|Received|Return-Path|MIME-Version):",
    re.IGNORECASE,
)
ENCRYPTED_MAIL = re.compile(
    r"^content-type:\s*(?:multipart/encrypted|application/(?:x-)?pkcs7-mime)",
    re.IGNORECASE | re.MULTILINE,
)
SUBTITLES = re.compile(r"WEBVTT\b|1\s*\n\d\d:\d\d:\d\d,\d{3} -->")


def detect(data: bytes, name: str) -> tuple[str, str | None]:
    """Return the media type, and the decoded text if the type is one of texts.

    Raises ExtractionError for what is empty, encrypted, hostile or of no known kind.
    """
    if not data.strip(b"\0 \t\r\n"):
        raise ExtractionError("empty")
    if b"%PDF-" in data[:1024]:
        return "application/pdf", None
    if data.startswith(OLE):
        return _compound(data), None
    if data.startswith(b"PK\x03\x04"):
        return _zip(data), None
    if data.startswith(b"{\\rtf"):
        return "application/rtf", None
    text = decode(data)
    if text is None:
        raise _unreadable(data, name)
    return _text_type(text, name), text


def _unreadable(data: bytes, name: str) -> ExtractionError:
    suffix = PurePath(name).suffix.lower().lstrip(".")
    if _known(data) is None and suffix in {"pdf", "docx", "xlsx", "pptx", "odt", "epub"}:
        return ExtractionError(
            "corrupt", f"This is not a {suffix.upper()} file, or it is badly damaged."
        )
    return ExtractionError("unsupported")


def _known(data: bytes) -> str | None:
    """Return the type that kreuzberg sees in the first bytes, None if it sees none."""
    try:
        return kreuzberg.detect_mime_type(data)
    except (kreuzberg.KreuzbergError, RuntimeError, ValueError):
        return None


def _compound(data: bytes) -> str:
    """Return the type of an OLE file: Office 97, Outlook, or an encrypted newer one."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise ExtractionError("encrypted")
    if "__properties_version1.0".encode("utf-16-le") in data:
        return OUTLOOK
    if known := _known(data):
        return known
    raise ExtractionError("unsupported")


def _zip(data: bytes) -> str:
    """Return the type of a zip that is a document, after looking at what it would unpack to."""
    detected = _known(data) or "application/zip"
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise ExtractionError("corrupt") from error
    with archive:
        if "mimetype" in archive.NameToInfo:
            declared = archive.read("mimetype")[:200].decode("ascii", "ignore").strip()
            if declared.startswith(OPENDOCUMENT):
                detected = declared
        if not detected.startswith(ZIP_TYPES):
            raise ExtractionError(
                "unsupported", "Archives are not read. Upload the files inside instead."
            )
        _refuse_bombs(archive)
        if not detected.startswith("application/epub"):
            _refuse_entities(archive)
    return detected


def _refuse_bombs(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    if sum(part.file_size for part in parts) > UNPACKED_BYTES:
        raise ExtractionError("too-large")
    for part in parts:
        if part.flag_bits & 0x1:
            raise ExtractionError("encrypted")
        if part.file_size > BOMB_BYTES and part.file_size > BOMB_RATIO * part.compress_size:
            raise ExtractionError("too-large")


def _refuse_entities(archive: zipfile.ZipFile) -> None:
    """Office files never declare XML entities; who does wants them expanded, or files read."""
    for part in archive.infolist():
        if part.filename.endswith((".xml", ".rels")):
            try:
                with archive.open(part) as content:
                    head = content.read(65536)
            except (zipfile.BadZipFile, NotImplementedError, OSError, zlib.error) as error:
                raise ExtractionError("corrupt") from error
            if ENTITY.search(head):
                raise ExtractionError("corrupt")


def _text_type(text: str, name: str) -> str:
    head = text[:4096].lstrip("\ufeff")
    suffix = PurePath(name).suffix.lower()
    if HTML.match(head) or suffix in {".html", ".htm", ".xhtml"}:
        return "text/html"
    if head.lstrip().startswith("<?xml"):
        return "text/html" if "<html" in head else "application/xml"
    if SUBTITLES.match(head):
        return "text/vtt"
    if suffix == ".eml" or (not suffix and MAIL.match(head)):
        if ENCRYPTED_MAIL.search(head):
            raise ExtractionError("encrypted", "This mail is encrypted.")
        return MAIL_TYPE
    return TEXT_TYPES.get(suffix, "text/plain")
