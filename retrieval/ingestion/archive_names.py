"""The names in a zip: most programs do not say their encoding, so all together are looked at."""

from __future__ import annotations

import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Sequence

UTF8_FLAG = 0x800
# The extra field in which Info-ZIP keeps a name in UTF-8 beside one in another encoding.
UNICODE_PATH = 0x7075
# Programs on Windows write the code page of its console, some that of its windows.
ENCODINGS = (
    "cp437", "cp850", "cp866", "cp932", "gbk", "big5", "cp949", "cp1252", "cp1251", "cp852",
)  # fmt: skip
# First bytes of the characters in daily use; what else a code page has is rare in a name.
DAILY = {
    "cp932": range(0x81, 0x99),
    "gbk": range(0xA1, 0xD8),
    "big5": range(0xA1, 0xC7),
    "cp949": range(0xA1, 0xC9),
}
EUROPEAN = set("äöüÄÖÜßéèêëàâáãåæçñíìîïóòôõøúùûÿœÅÆÇÉÈÊÑÓÕØÁÍÚÀÂÃ–—’“”€ąćęłńóśźżŚŁŻčďěňřšťůýžČŘŠŽ")
# No file on Windows has these in its name; `^`, `[` … are seldom there.
NEVER, SELDOM = set('|<>:"?*'), set("^`{}[]~")
EAST_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}
# By their places among Hangul's initials, vowels and finals.
RARE_INITIALS, RARE_VOWELS = {1, 4, 8, 10, 13}, {3, 10, 15}
USUAL_FINALS = {0, 1, 4, 8, 16, 17, 19, 21}


def names_of(members: Sequence[zipfile.ZipInfo]) -> list[str]:
    """Return the members' names as their makers meant them."""
    said = [_said(member) for member in members]
    raw = [member.orig_filename.encode("cp437") for member in members if not _flagged(member)]
    unsaid = [name for name in raw if not name.isascii()]
    encoding = _guess(unsaid) if unsaid else "ascii"
    return [
        name or member.orig_filename.encode("cp437").decode(encoding, "replace")
        for name, member in zip(said, members, strict=True)
    ]


def _flagged(member: zipfile.ZipInfo) -> bool:
    return bool(member.flag_bits & UTF8_FLAG)


def _said(member: zipfile.ZipInfo) -> str:
    """Return a name whose encoding is said: by the flag, or by a field of its own."""
    if _flagged(member):
        return member.orig_filename
    extra = member.extra
    while len(extra) >= 4:
        kind, length = struct.unpack("<HH", extra[:4])
        field, extra = extra[4 : 4 + length], extra[4 + length :]
        if kind == UNICODE_PATH and len(field) > 5:
            name = member.orig_filename.encode("cp437")
            # It is of another name if a program that does not know the field renamed the file.
            if struct.unpack("<I", field[1:5])[0] == zlib.crc32(name):
                return field[5:].decode("utf-8", "replace")
    return ""


def _guess(names: Sequence[bytes]) -> str:
    """Return the encoding in which the names look most like names."""
    best, least = "cp437", float("inf")
    for encoding in ("utf-8", *ENCODINGS):
        try:
            texts = [unicodedata.normalize("NFC", name.decode(encoding)) for name in names]
        except UnicodeDecodeError:
            continue
        strangeness = sum(_strangeness(text, encoding) for text in texts)
        # macOS writes UTF-8 without saying so; little else is valid UTF-8, short names of GBK are.
        if encoding == "utf-8":
            strangeness /= 4
        if strangeness < least - 1e-9:
            best, least = encoding, strangeness
    return best


def _strangeness(text: str, encoding: str) -> float:
    """Return how little a text looks like a name: odd characters, scripts mixed within a word."""
    total, last, before = 0.0, "", ""
    for character in text:
        script = _script(character)
        total += _oddness(character, script, encoding)
        if script and last and script != last:
            total += 0.6 if {script, last} == {"CJK", "LATIN"} else 1.0
        if before.islower() and character.isupper():
            total += 1.0
        if unicodedata.category(character)[0] == "M" and not before.isalpha():
            total += 2.0
        last, before = script, character
    return total


def _script(character: str) -> str:
    """Return a letter's script, nothing for what is no letter."""
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "?").split()[0]
    return "CJK" if name in EAST_ASIAN else name


def _oddness(character: str, script: str, encoding: str) -> float:  # noqa: PLR0911 - a table
    if character.isascii():
        return 2.0 if character in NEVER else 0.5 if character in SELDOM else 0.0
    match script:
        case "" if character >= "\U0001f000":  # emoji
            return 0.8
        case "":
            return {"M": 0.8, "P": 0.5, "N": 0.7, "Z": 1.0}.get(
                unicodedata.category(character)[0], 2.0
            )
        case "LATIN":
            return 2.0 if character in "ªº" else 0.1 if character in EUROPEAN else 1.0
        case "CYRILLIC":
            return 0.1 if "а" <= character.lower() <= "я" or character in "ёЁ" else 0.6
        case "CJK":
            return 0.3 if _daily(character, encoding) else 2.0
        case "HANGUL":
            return 0.2 if _daily(character, encoding) and _usual_syllable(character) else 0.8
    return 1.0


def _daily(character: str, encoding: str) -> bool:
    if encoding == "utf-8":
        return True
    lead, *rest = character.encode(encoding)
    # Only GBK's and CP949's extensions have smaller second bytes.
    plain = encoding not in {"gbk", "cp949"} or rest[0] >= 0xA1 if rest else False
    return plain and lead in DAILY.get(encoding, ())


def _usual_syllable(character: str) -> bool:
    place = ord(character) - 0xAC00
    return (
        place // 588 not in RARE_INITIALS
        and place % 588 // 28 not in RARE_VOWELS
        and place % 28 in USUAL_FINALS
    )
