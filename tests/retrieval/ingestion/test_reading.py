"""What comes out of files of every kind, and what is said of files that cannot be read."""

from pathlib import Path

import pytest

from retrieval.ingestion.errors import MESSAGES, ExtractionError
from retrieval.ingestion.reading import Extracted, read


def read_file(path: Path, name: str = "") -> Extracted:
    return read(path.read_bytes(), name or path.name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("minimal.pdf", "Lorem ipsum dolor sit amet"),
        ("comments.docx", "This second paragraph also has a reviewer annotation."),
        ("slides.pptx", "A rectangle shape with this text inside."),
        ("sheet.xlsx", "| Maple Leafs | TOR | 13 |"),
        ("attachment.eml", "This email contains an attachment."),
        ("encoded-subject.eml", "Subject: Simple email with ☸☿ Unicode subject"),
        ("rich-tables.html", "# Rich Table Cells in HTML"),
        ("cp1252-undeclared.html", "¡Qué rico!"),
        ("utf16le-no-bom.txt", "Hamburgers are delicious"),
        ("utf32.txt", "Hamburgers are delicious"),
        ("latin1-umlauts.md", "können"),
        ("invalid-utf8.txt", "The café opens at 07:30."),
        ("nul-bytes.txt", "Second line after NUL bytes."),
    ],
)
def test_text_comes_out(data: Path, name: str, expected: str) -> None:
    """Formats and encodings are recognised from the bytes."""
    text = read_file(data / name)["text"]
    assert expected in text
    assert "\0" not in text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Склад открыт по будням с девяти до шести, ключи лежат у охраны.", "cp1251"),
        ("倉庫は平日の九時から六時まで開いています。鍵は受付にあります。", "shift_jis"),
        (
            "仓库在工作日的九点到六点之间开放，钥匙放在前台的抽屉里，用完以后请马上归还。我们的地址没有变。",
            "gb18030",
        ),
        ("Das Lager öffnet um neun; die Schlüssel hängen am Empfang.", "cp1252"),
        ("The warehouse opens at nine.", "utf-16"),
        ("The warehouse opens at nine.", "utf-16-be"),
        ("Das Lager öffnet um neun.", "utf-8-sig"),
    ],
)
def test_encoding_is_found(text: str, encoding: str) -> None:
    """Text is text in whatever encoding it comes."""
    assert read(text.encode(encoding), "a.txt")["text"] == text


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("password-1234-aes256.pdf", "encrypted"),
        ("sheet-password.xlsx", "encrypted"),
        ("scan-ocr-test.pdf", "no-text"),
        ("sheet-empty.xlsx", "empty"),
        ("zip-bomb-80MB.docx", "too-large"),
        ("billion-laughs.docx", "corrupt"),
        ("external-entity.docx", "corrupt"),
        ("droste.zip", "unsupported"),
    ],
)
def test_unreadable_file_is_explained(data: Path, name: str, code: str) -> None:
    """What cannot be read ends in a code and a sentence."""
    with pytest.raises(ExtractionError) as caught:
        read_file(data / name)
    assert caught.value.code == code
    assert caught.value.message.endswith(".")


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b"", "a.txt", "empty"),
        (b" \r\n\t ", "a.txt", "empty"),
        (b"%PDF-1.4\n%%EOF\n", "a.pdf", "corrupt"),
        (bytes(range(256)) * 8, "a.pdf", "corrupt"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, "a.bin", "unsupported"),
    ],
)
def test_broken_bytes_are_explained(content: bytes, name: str, code: str) -> None:
    """Nothing, blanks, a bare header and noise are told apart."""
    with pytest.raises(ExtractionError) as caught:
        read(content, name)
    assert caught.value.code == code


def test_half_a_file_is_corrupt(data: Path) -> None:
    """A docx that was cut off is not read in part."""
    content = (data / "comments.docx").read_bytes()
    with pytest.raises(ExtractionError, match="damaged"):
        read(content[: len(content) // 2], "half.docx")


def test_name_does_not_decide(data: Path) -> None:
    """A PDF called .txt is a PDF, HTML called .pdf is HTML."""
    pdf = read_file(data / "minimal.pdf", "report.txt")
    assert pdf["media_type"] == "application/pdf"
    assert "%PDF" not in pdf["text"]
    assert read_file(data / "rich-tables.html", "page.pdf")["media_type"] == "text/html"


def test_pages_begin_where_they_begin(data: Path) -> None:
    """Each page's start points at that page's first words."""
    extracted = read_file(data / "four-pages.pdf")
    starts = extracted["page_starts"]
    assert len(starts) == 4
    assert starts[0] == 0
    assert extracted["text"][starts[1] :].startswith("information. Really?")


def test_slides_are_pages(data: Path) -> None:
    """Slides count as pages, an empty last one too."""
    assert len(read_file(data / "slides.pptx")["page_starts"]) == 3


def test_scripts_are_not_text(data: Path) -> None:
    """What a browser would run is not part of a page's text."""
    text = read_file(data / "prompt-injection.html")["text"]
    assert "The Lisbon office is open from 09:15 to 17:45" in text
    assert "changed by script" not in text


def test_plain_text_is_kept_as_it_is() -> None:
    """Characters that mean something in Markdown are not escaped."""
    text = "# 1. Costs * 2 [see_here] <b>"
    assert read(text.encode(), "a.txt")["text"] == text


def test_too_much_text_is_refused() -> None:
    """A text above the limit is not taken in part."""
    with pytest.raises(ExtractionError, match="too large"):
        read(b"word " * 100, "a.txt", max_characters=400)


def test_every_code_has_a_sentence() -> None:
    """The codes are those that callers may rely on."""
    assert set(MESSAGES) == {
        "encrypted", "corrupt", "empty", "unsupported", "no-text", "too-large", "timeout",
    }  # fmt: skip
