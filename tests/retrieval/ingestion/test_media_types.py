"""What kind of file some bytes are."""

import re
from pathlib import Path

import pytest

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.media_types import MEDIA_TYPES, detect
from tests.documents import docx, odf, paragraph, zipped

FORMATS = Path(__file__).parents[3] / "docs" / "formats.md"


def test_the_documentation_names_what_is_read() -> None:
    """No media type is missing in the table of formats, and none is there that is not read."""
    table = FORMATS.read_text().split("\n## ")[1]
    named = set(re.findall(r"`((?:application|text|message|image)/[^`]+)`", table))
    assert named == MEDIA_TYPES


@pytest.mark.parametrize("name", ["a.txt", "a", "a.zip", "a.pdf"])
def test_the_name_of_an_office_file_does_not_matter(name: str) -> None:
    assert detect(docx(paragraph("x")), name)[0].endswith("wordprocessingml.document")
    assert detect(odf("text", ""), name)[0].endswith("opendocument.text")


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("<!-- a --> <!DOCTYPE html><p>x", "a.txt", "text/html"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nHi", "a.txt", "text/vtt"),
        ("1\n00:00:01,000 --> 00:00:02,000\nHi", "a.txt", "text/vtt"),
        ('<?xml version="1.0"?><a/>', "a.dat", "application/xml"),
        ('<?xml version="1.0"?><html xmlns="x"/>', "a.dat", "text/html"),
        ("# Not a heading", "a.txt", "text/plain"),
        ("# A heading", "a.MD", "text/markdown"),
        ("{\\rtf1 x}", "a.txt", "application/rtf"),
    ],
)
def test_texts_are_told_apart(text: str, name: str, expected: str) -> None:
    assert detect(text.encode(), name)[0] == expected


@pytest.mark.parametrize(
    "content",
    [
        zipped({"a.txt": "x"}),
        zipped({"mimetype": "application/vnd.oasis.opendocument.formula", "content.xml": "<a/>"}),
        b"\x7fELF" + bytes(range(256)) * 4,
        b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "b">]><l>&a;</l>',
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
    ],
)
def test_what_is_not_read_is_refused(content: bytes) -> None:
    with pytest.raises(ExtractionError) as caught:
        detect(content, "a.bin")
    assert caught.value.code == "unsupported"
