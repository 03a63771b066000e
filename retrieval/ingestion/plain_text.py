"""Bytes to text: whatever the encoding, with or without a byte order mark, broken or not."""

from __future__ import annotations

import codecs
import re
import unicodedata

from charset_normalizer import from_bytes

from retrieval.ingestion import east_asian

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
# What texts are written in; with pages of DOS and the Macintosh as well, guesses get worse.
ENCODINGS = [
    *(f"cp{number}" for number in range(1250, 1259)),
    "koi8_r", "koi8_u", "iso8859_2", "iso8859_5", "iso8859_7", "iso8859_9", "iso8859_15", "cp874",
    "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5hkscs", "cp949",
]  # fmt: skip
# Controls, and characters that do not exist or are nobody's.
STRANGE = {"Cc", "Cn", "Co", "Cs"}
# Bytes looked at to guess an encoding.
SAMPLE = 256 * 1024


def decode(data: bytes) -> str | None:
    """Return the text of `data`, or None if it is not text."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(_endian(encoding, mark), "replace")
    if encoding := _wide(data):
        return data.decode(encoding, "replace")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and _is_text(text):
        return text
    if encoding := _wide_by_shape(data):
        return data.decode(encoding, "replace")
    return None if text else _guess(data)


def clean(text: str) -> str:
    """Return `text` without what a database refuses or nobody sees: NUL, controls, surrogates."""
    return CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _endian(encoding: str, mark: bytes) -> str:
    if encoding == "utf-8":
        return encoding
    return f"{encoding}-{'le' if mark[0] == 0xFF else 'be'}"


def _wide(data: bytes) -> str:
    """Return UTF-16's or UTF-32's name if `data` is mostly ASCII in it, without a mark."""
    sample = data[:4096]
    if len(sample) < 8:
        return ""
    for encoding, width, offset in (
        ("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1),
    ):  # fmt: skip
        units = [sample[i : i + width] for i in range(0, len(sample) - width + 1, width)]
        ascii_units = sum(
            0x09 <= unit[offset] < 0x7F and sum(unit) == unit[offset] for unit in units
        )
        if ascii_units > 0.7 * len(units):
            return encoding
    return ""


def _wide_by_shape(data: bytes) -> str:
    """Return UTF-32's or UTF-16's name if `data` looks like it, in whatever script."""
    sample = data[: SAMPLE // 4 * 4]
    controls = sum(byte < 0x20 and byte not in b"\t\n\r" for byte in sample)
    if len(sample) % 2 or controls < 0.03 * len(sample):
        return ""
    found = []
    for encoding, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        try:
            text = sample[: len(sample) // width * width].decode(encoding)
        except UnicodeDecodeError:
            continue
        strange = sum(
            unicodedata.category(each) in STRANGE for each in text if each not in "\t\n\r"
        )
        # Text keeps to few blocks of characters; the other byte order scatters it.
        if text and strange <= 0.02 * len(text):
            found.append((width == 2, len({ord(each) >> 8 for each in text}), encoding))
    return min(found)[2] if found else ""


def _guess(data: bytes) -> str | None:
    if encoding := east_asian.encoding_of(data):
        return data.decode(encoding)
    # UTF-8 with a few broken places is likelier than an encoding in which those make sense.
    lenient = data.decode("utf-8", "replace")
    whole = sum(character > "\x7f" for character in lenient) - lenient.count("\ufffd")
    if whole and lenient.count("\ufffd") <= 0.5 * whole + 8 and _multibyte(data):
        return lenient if _is_text(lenient) else None
    matches = from_bytes(data[:SAMPLE], cp_isolation=ENCODINGS)
    best = matches.best()
    if best is None:
        return None
    # Many Western texts fit several code pages equally well; this is by far the most common.
    western = any(
        match.encoding == "cp1252"
        and match.chaos <= best.chaos
        and match.coherence >= best.coherence
        for match in matches
    )
    text = data.decode("cp1252" if western else best.encoding, "replace")
    return text if _is_text(text) else None


def _multibyte(data: bytes) -> bool:
    """Whether many bytes above ASCII are parts of whole UTF-8 sequences."""
    high = sum(byte > 0x7F for byte in data)
    valid = len(data.decode("utf-8", "ignore").encode()) - sum(byte < 0x80 for byte in data)
    return valid >= 0.3 * high


def _is_text(text: str) -> bool:
    """Whether it has few control characters: NUL bytes in a text are forgiven, a program is not."""
    sample = text[:65536]
    return len(CONTROL.findall(sample)) <= 0.1 * len(sample)
