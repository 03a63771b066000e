"""Files that are meant to do harm: each ends in seconds, in a text or in a clear error."""

import asyncio
import io
import os
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.extraction import extract
from retrieval.ingestion.media_types import detect
from retrieval.ingestion.reading import read
from tests.documents import docx, lines, odf, paragraph, pdf, relations, stream, zipped

SECONDS = 10
HOST = Path("/etc/hostname").read_text().strip() if Path("/etc/hostname").exists() else ""
ENTITY = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/hostname">]>'

BODY = "<document><body><p><r><t>&a;</t></r></p></body></document>"


def epub(page: str, path: str = "c.opf") -> bytes:
    names = "urn:oasis:names:tc:opendocument:xmlns:container"
    return zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": f'<container xmlns="{names}"><rootfiles><rootfile '
        f'full-path="{path}" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "c.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" '
        'href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine>'
        '<itemref idref="a"/></spine></package>',
        "a.xhtml": page,
    })  # fmt: skip


def laughs(name: str = "l") -> str:
    entities = "".join(
        f"<!ENTITY b{n} '{(f'&b{n - 1};' if n else 'lol') * 10}'>" for n in range(10)
    )
    return f"<!DOCTYPE {name} [{entities}]>"


def repeated_cells() -> bytes:
    cell = '<table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-cell>'
    return odf("spreadsheet", f"<table:table>{row}</table:table-row>{row}</table:table-row>"
               "</table:table>")  # fmt: skip


def huge_picture() -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")


def pictured_pdf() -> bytes:
    entries = b"/Type/XObject/Subtype/Image/Width 100000/Height 100000/BitsPerComponent 8"
    picture = stream(bytes(1000), entries + b"/ColorSpace/DeviceRGB")
    return pdf(["595 0 0 842 0 0 cm /X4 Do"], extra=[picture])


def deep_mail() -> bytes:
    parts = "".join(
        f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(1000)
    )
    return f"From: a@b\nSubject: x\nMIME-Version: 1.0\n{parts}\n\nhello".encode()


HOSTILE: dict[str, Callable[[], bytes]] = {
    "entity.docx": lambda: docx(paragraph("&a;"), prolog=ENTITY),
    "entity-behind-a-comment.docx": lambda: docx(
        paragraph("&a;"), prolog=f"<!--{'x' * 10**6}-->{ENTITY}"
    ),
    "entity-far-behind.docx": lambda: docx(
        paragraph("&a;"), prolog=f"<!--{'x' * 2 * 10**6}-->{ENTITY}"
    ),
    "entity-in-utf-16.docx": lambda: zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"r1": ("officeDocument", "word/document.xml")}),
            "word/document.xml": f"{ENTITY}{BODY}".encode("utf-16"),
        }
    ),
    "laughs.odt": lambda: odf(
        "text", "<text:p>x</text:p>", **{"styles.xml": f"{laughs()}<l>&b9;</l>"}
    ),
    "laughs.epub": lambda: epub(f"{laughs('html')}<html><body><p>hello &b9;</p></body></html>"),
    "laughs.xml": f"<?xml version='1.0'?>{laughs()}<l>&b9;</l>".encode,
    "path-outside.epub": lambda: epub("", "../../../../etc/passwd"),
    "nested.docx": lambda: docx("<w:p>" * 50_000 + "</w:p>" * 50_000),
    "nested.odt": lambda: odf("text", "<text:span>" * 50_000 + "</text:span>" * 50_000),
    "wide.docx": lambda: docx(
        "<w:tbl><w:tr>" + f'<w:tc><w:tcPr><w:gridSpan w:val="{10**9}"/></w:tcPr>'
        f"{paragraph('x')}</w:tc>" * 3 + "</w:tr></w:tbl>"
    ),
    "repeated.ods": repeated_cells,
    "spaces.odt": lambda: odf("text", f'<text:p>a<text:s text:c="{10**9}"/>b</text:p>'),
    "many-parts.docx": lambda: zipped(
        dict.fromkeys(["[Content_Types].xml", *map(str, range(21_000))], "")
    ),
    "loop.pdf": lambda: pdf([""]).replace(b"/Kids[4 0 R]", b"/Kids[2 0 R]"),
    "nested.pdf": lambda: pdf([lines(["x"])], extra=[b"[" * 200_000 + b"]" * 200_000]),
    "nested-content.pdf": lambda: pdf(["q " * 300_000 + "[" * 100_000]),
    "huge-page.pdf": lambda: pictured_pdf().replace(b"0 0 595 842", b"0 0 9e9 9e9"),
    "huge-picture.pdf": pictured_pdf,
    "huge-picture.png": huge_picture,
    "nested.html": lambda: b"<div>" * 200_000 + b"hello",
    "nested.json": lambda: b'{"a":' * 200_000,
    "nested.rtf": lambda: b"{\\rtf1 " + b"{" * 500_000 + b"hello",
    "nested.eml": deep_mail,
    "comments.txt": lambda: b"<!---->" * 100_000,
    "links.html": lambda: b"<p>" + b"[" * 100_000 + b"](" * 100_000,
    "stars.html": lambda: b"<p>" + b"*a" * 100_000,
    "quotes.csv": lambda: b'"' * 1_000_001,
}


@pytest.fixture(autouse=True)
def _limits(settings: Settings) -> None:
    settings.EXTRACTION_TIMEOUT_SECONDS = 30
    settings.EXTRACTION_MEMORY_BYTES = 10**9
    settings.OCR_LANGUAGES = ["eng"]


@pytest.mark.parametrize("name", HOSTILE)
async def test_it_ends_soon_and_says_so(name: str, tmp_path: Path) -> None:
    """No hang, no crash, no text of another file, nothing written elsewhere."""
    path = tmp_path / "file"
    path.write_bytes(HOSTILE[name]())
    began = time.monotonic()
    try:
        text = (await extract(path, name))["text"]
    except ExtractionError as error:
        text = error.message
        assert text.endswith(".")
    assert time.monotonic() - began < SECONDS
    assert not HOST or HOST not in text
    assert "lollollol" not in text
    assert await asyncio.to_thread(os.listdir, tmp_path) == ["file"]


def test_comments_before_a_page_are_not_tried_in_every_combination() -> None:
    """What begins like a page, but is none, takes no time."""
    began = time.process_time()
    assert detect(b"<!---->" * 580 + b"x", "a.txt")[0] == "text/plain"
    assert time.process_time() - began < 1


def test_a_bomb_is_known_before_it_is_unpacked() -> None:
    """What the zip says of its parts is enough."""
    content = docx(paragraph("x" * 40_000_000))
    with pytest.raises(ExtractionError) as caught:
        detect(content, "a.docx")
    assert caught.value.code == "too-large"


def test_a_zip_that_lies_about_sizes_is_caught() -> None:
    """No more is unpacked than it says there is."""
    content = bytearray(docx(paragraph("x" * 40_000_000)))
    size = struct.pack("<I", len(_unpacked(bytes(content))))
    honest = bytes(content)
    lying = honest.replace(size, struct.pack("<I", 1000))
    assert lying != honest
    with pytest.raises(ExtractionError):
        read(lying, "a.docx")


def _unpacked(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read("word/document.xml")
