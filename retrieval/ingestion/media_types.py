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

PDF = "application/pdf"
OFFICE = "application/vnd.openxmlformats-officedocument"
DOCX = f"{OFFICE}.wordprocessingml.document"
PPTX = f"{OFFICE}.presentationml.presentation"
XLSX = f"{OFFICE}.spreadsheetml.sheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroEnabled.12"
# Folders of the main part, which templates and files with macros have as well.
OFFICE_TYPES = {"word": DOCX, "ppt": PPTX, "xl": XLSX}
OPENDOCUMENT = "application/vnd.oasis.opendocument"
FLAT = "-flat-xml"
EPUB = "application/epub+zip"
# What pictures begin with; text in them is recognised where OCR is installed.
PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
}
ODF_TYPES = {
    f"{OPENDOCUMENT}.{kind}{form}"
    for kind in ("text", "spreadsheet", "presentation", "graphics")
    for form in ("", FLAT)
}
RTF = "application/rtf"
OLE_TYPES = {"application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"}
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
# All that is read.
MEDIA_TYPES = frozenset({
    PDF, DOCX, PPTX, XLSX, XLSB, EPUB, RTF, OUTLOOK, MAIL_TYPE,
    *ODF_TYPES, *OLE_TYPES, *PICTURES.values(), *TEXT_TYPES.values(),
    "text/plain", "text/html", "application/xml",
})  # fmt: skip
# More than this from one part, at more than this ratio, is a bomb: real documents reach 1:50.
BOMB_BYTES, BOMB_RATIO = 32 * 2**20, 200
UNPACKED_BYTES = 2**30
MOST_PARTS = 20_000
# A document type stands before all else in an XML, but there may be comments before it.
PROLOG_BYTES = 2**20
# Office files have no document type: who gives them one wants entities expanded, or files read.
DOCTYPE = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
# Possessive: comments must not be tried in every combination.
HTML = re.compile(
    r"\s*+(?:<!--(?>.*?-->)\s*+)*+(?:<!doctype html|<html|<head|<body)", re.IGNORECASE | re.DOTALL
)
HEADER = re.compile(r"([A-Za-z][\w-]*):[^\n]*\n(?:[ \t][^\n]*\n)*")
MAIL_HEADERS = {"from", "to", "subject", "date", "received", "message-id", "mime-version",
                "return-path", "delivered-to", "content-type"}  # fmt: skip
ENCRYPTED_MAIL = re.compile(
    r"^content-type:\s*(?:multipart/encrypted|application/(?:x-)?pkcs7-mime)",
    re.IGNORECASE | re.MULTILINE,
)
FLAT_TYPE = re.compile(
    r'<office:document\b[^>]*\boffice:mimetype="(application/vnd\.oasis\.[\w.-]{1,100})"'
)
SUBTITLES = re.compile(r"WEBVTT\b|1\s*\n\d\d:\d\d:\d\d,\d{3} -->")


def detect(data: bytes, name: str) -> tuple[str, str | None]:
    """Return the media type, and the decoded text if the type is one of texts.

    Raises ExtractionError for what is empty, encrypted, hostile or of no known kind.
    """
    if not data.strip(b"\0 \t\r\n"):
        raise ExtractionError("empty")
    if b"%PDF-" in data[:1024]:
        return PDF, None
    if data.startswith(OLE):
        return _compound(data), None
    if data.startswith(b"PK\x03\x04"):
        return _zip(data), None
    if data.startswith(b"{\\rtf"):
        return RTF, None
    for mark, media_type in PICTURES.items():
        if data.startswith(mark):
            return media_type, None
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
    known = _known(data)
    if known not in OLE_TYPES:
        raise ExtractionError("unsupported")
    return known


def _zip(data: bytes) -> str:
    """Return the type of a zip that is a document, after looking at what it would unpack to."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError) as error:
        raise ExtractionError("corrupt") from error
    with archive:
        media_type = _declared(archive)
        if media_type is None:
            raise ExtractionError(
                "unsupported", "Archives are not read. Upload the files inside instead."
            )
        _refuse_bombs(archive)
        if media_type != EPUB:
            _refuse_document_types(archive)
    return media_type


def _declared(archive: zipfile.ZipFile) -> str | None:
    """Return the media type of the document that a zip is, None if it is none."""
    names = archive.NameToInfo
    if "mimetype" in names and names["mimetype"].file_size < 200:
        declared = _part(archive, "mimetype", 200).decode("ascii", "ignore").strip()
        declared = declared.removesuffix("-template").removesuffix("-master")
        if declared == EPUB or declared in ODF_TYPES:
            return declared
    if "xl/workbook.bin" in names:
        return XLSB
    if "[Content_Types].xml" in names:
        folders = {name.split("/")[0] for name in names}
        return next((OFFICE_TYPES[folder] for folder in OFFICE_TYPES if folder in folders), None)
    return EPUB if "META-INF/container.xml" in names else None


def _refuse_bombs(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > UNPACKED_BYTES:
        raise ExtractionError("too-large")
    for part in parts:
        if part.flag_bits & 0x1:
            raise ExtractionError("encrypted")
        if part.file_size > BOMB_BYTES and part.file_size > BOMB_RATIO * part.compress_size:
            raise ExtractionError("too-large")


def _refuse_document_types(archive: zipfile.ZipFile) -> None:
    for part in archive.infolist():
        if part.filename.endswith((".xml", ".rels", ".vml")):
            head = _part(archive, part.filename, PROLOG_BYTES)
            # In UTF-16 every other byte is NUL.
            if DOCTYPE.search(head.replace(b"\0", b"")):
                raise ExtractionError("corrupt")


def _part(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    try:
        with archive.open(name) as part:
            return part.read(size)
    except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError, zlib.error) as error:
        raise ExtractionError("corrupt") from error
    except RuntimeError as error:
        raise ExtractionError("encrypted") from error


def _text_type(text: str, name: str) -> str:
    head = text[:4096].lstrip("\ufeff")
    suffix = PurePath(name).suffix.lower()
    if HTML.match(head) or suffix in {".html", ".htm", ".xhtml"}:
        return "text/html"
    if head.lstrip().startswith("<?xml"):
        return _xml_type(text, head)
    if SUBTITLES.match(head):
        return "text/vtt"
    if suffix == ".eml" or (suffix in {"", ".txt", ".mht"} and _is_mail(head)):
        if ENCRYPTED_MAIL.search(head):
            raise ExtractionError("encrypted", "This mail is encrypted.")
        return MAIL_TYPE
    return TEXT_TYPES.get(suffix, "text/plain")


def _xml_type(text: str, head: str) -> str:
    flat = FLAT_TYPE.search(text[:16384])
    if flat and f"{flat[1]}{FLAT}" in ODF_TYPES:
        return f"{flat[1]}{FLAT}"
    if "<html" in head:
        return "text/html"
    if "<!entity" in head.lower():
        raise ExtractionError("unsupported", "This XML declares entities, which are not read.")
    return "application/xml"


def _is_mail(head: str) -> bool:
    """Whether a text begins with the headers of a mail."""
    found: set[str] = set()
    position = 0
    while header := HEADER.match(head, position):
        found.add(header[1].lower())
        position = header.end()
    known = found & MAIL_HEADERS
    return len(known) >= 3 and bool(known & {"received", "message-id", "mime-version", "from"})
