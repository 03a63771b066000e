"""Bytes to text."""

import pytest

from retrieval.ingestion.plain_text import decode

SHORT = [
    ("Grüße aus Köln, schöne Straße", "cp1252"),
    ("Grüße aus Köln, schöne Straße", "latin-1"),
    ("Der Preis: 15 € für zwei „Brötchen“.", "cp1252"),
    ("L'été à la plage, où es-tu né ?", "cp1252"),
    ("El niño comió paella mañana", "latin-1"),
    ("Привет, как дела?", "cp1251"),
    ("Код доступа: 58-213", "cp1251"),
    ("Grüße aus Köln, ÄÖÜ, schöne Straße", "cp1252"),
    ("こんにちは、世界。", "shift_jis"),
    ("会議は九時からです。", "cp932"),
    ("会議は九時からです。", "euc_jp"),
    ("你好，世界，今天天气很好。", "gb18030"),
    ("会议九点开始，请准时参加。", "gbk"),
    ("會議九點開始，請準時參加。", "big5"),
    ("회의는 아홉 시에 시작합니다. 늦지 마세요.", "euc_kr"),
]
UNICODE = ["Straße 日本語 🤠", "Привет, как дела?", "你好，世界。", "plain words only"]


@pytest.mark.parametrize(("text", "encoding"), SHORT)
def test_a_short_text_in_an_old_encoding(text: str, encoding: str) -> None:
    """A line is enough in most languages."""
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("text", UNICODE)
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le"]
)
def test_unicode_with_and_without_a_mark(text: str, encoding: str) -> None:
    """Without a mark, UTF-16 and UTF-32 show by their shape, in any script."""
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("mark", ["utf-16", "utf-32"])
def test_big_endian_with_a_mark(mark: str) -> None:
    text = "\ufeffGrüße, 世界"
    assert decode(text.encode(f"{mark}-be")) == text[1:]


def test_broken_bytes_are_replaced() -> None:
    """The rest of a text is not lost for a few bytes."""
    assert decode("Das Café öffnet um ".encode() + b"\xff\xfe 7:30 \xe9.") == (
        "Das Café öffnet um \ufffd\ufffd 7:30 \ufffd."
    )


def test_a_program_is_no_text() -> None:
    assert decode(bytes(range(256)) * 8) is None
