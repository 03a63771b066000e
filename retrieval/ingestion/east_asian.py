"""Telling the old encodings of Chinese, Japanese and Korean apart, in texts of a line or more.

Nearly any bytes are characters in each of them; only in the right one are those the common ones.
"""

from __future__ import annotations

import re

# The codec, the one that has its common characters first, and the lead bytes of those.
CODECS = {
    "cp932": ("euc_jp", range(0xB0, 0xD0)),
    "euc_jp": ("euc_jp", range(0xB0, 0xD0)),
    "gb18030": ("gb2312", range(0xB0, 0xD8)),
    "big5hkscs": ("big5", range(0xA4, 0xC7)),
    "cp949": ("euc_kr", range(0xB0, 0xC9)),
}
JAPANESE = {"cp932", "euc_jp"}
KANA = re.compile("[\u3041-\u30fe]")
PUNCTUATION = re.compile("[\u3000-\u3011\uff01-\uff5e、。「」]")
SAMPLE = 4000
ENOUGH = 0.85
# Between letters of capitals in Cyrillic everything is a common Chinese character.
CAPITALS = range(0xC0, 0xE0)
# A Korean text has a space every few syllables.
SYLLABLES_A_WORD = 15


def encoding_of(data: bytes) -> str:
    """Return the encoding that makes most of `data` common characters, `""` if none does."""
    high = [byte for byte in data[:SAMPLE] if byte > 0x7F]
    if len(high) < 6 or all(byte in CAPITALS for byte in high):
        return ""
    shares = {codec: _share_of_common(data, codec) for codec in CODECS}
    # Common syllables are common Chinese characters too, but the spaces are Korean.
    if shares["cp949"] >= ENOUGH:
        return "cp949"
    best = max(shares, key=lambda codec: shares[codec])
    return best if shares[best] >= ENOUGH else ""


def _share_of_common(data: bytes, codec: str) -> float:
    try:
        text = data.decode(codec)[:SAMPLE]
    except UnicodeDecodeError:
        return 0.0
    characters = [each for each in text if each > "\x7f"]
    kana = len(KANA.findall(text))
    if not characters or (codec in JAPANESE and not kana):
        return 0.0
    if codec == "cp949" and text.count(" ") * SYLLABLES_A_WORD < len(characters):
        return 0.0
    known = sum(_is_common(each, codec) for each in characters)
    return known / len(characters)


def _is_common(character: str, codec: str) -> bool:
    if PUNCTUATION.match(character):
        return True
    if KANA.match(character):
        return codec in JAPANESE
    standard, leads = CODECS[codec]
    encoded = character.encode(standard, "ignore")
    return len(encoded) == 2 and encoded[0] in leads
