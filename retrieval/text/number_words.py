"""Numbers that are written in words, or in Chinese characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from text_to_num import find_numbers

# Languages of text2num.
LANGUAGES = frozenset({"en", "de", "fr", "es", "it", "nl", "pt"})

_token = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\w\s-]")
_han = re.compile("[〇零一二两兩三四五六七八九十百千万萬亿億]+")
DIGITS = dict(
    zip("〇零一二两兩三四五六七八九", (0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True)
)
SCALES = frozenset({1e2, 1e3, 1e6, 1e9, 1e12})
POWERS = {"十": 10, "百": 100, "千": 1000}
MYRIADS = {"万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8}


class NumberWord(NamedTuple):
    """A number at [start, end) of a text."""

    start: int
    end: int
    value: float
    is_ordinal: bool = False


def number_words(text: str, language: str) -> Iterator[NumberWord]:
    """Yield the numbers in words of a language that is known, but for one.

    That is an article, or stands for what was said, more often than it counts.
    """
    if language not in LANGUAGES:
        return
    tokens = [_Token(match) for match in _token.finditer(text)]
    for found in find_numbers(tokens, language, threshold=0):
        start, end = tokens[found.start].start, tokens[found.end - 1].end
        value = float(found.value)
        # A million behind digits is what they are multiplied by.
        scales = value in SCALES and text[:start].rstrip()[-1:].isdigit()
        if (value > 1 or found.is_ordinal) and not scales:
            yield NumberWord(start, end, value, found.is_ordinal)


def han_numbers(text: str) -> Iterator[NumberWord]:
    """Yield the numbers in Chinese characters, but for one."""
    for match in _han.finditer(text):
        start, end = match.span()
        value = _value(match[0])
        scales = text[max(0, start - 1) : start].isdigit()
        if value > 1 and not scales and not text.startswith("分之", end):
            yield NumberWord(start, end, value)


class _Token:
    """A word as text2num wants it."""

    def __init__(self, match: re.Match[str]) -> None:
        # What is in digits ends a number in words.
        self.written = "." if match[0].isdigit() else match[0]
        self.start, self.end = match.span()

    def text(self) -> str:
        return self.written

    def text_lower(self) -> str:
        return self.written.lower()

    def nt_separated(self, previous: _Token) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


def _value(written: str) -> float:
    """Return the value of a numeral; digits one by one are a year, or a telephone number."""
    if all(sign in DIGITS for sign in written):
        return float("".join(str(DIGITS[sign]) for sign in written))
    total = section = digit = 0.0
    for sign in written:
        if sign in DIGITS:
            digit = float(DIGITS[sign])
        elif sign in POWERS:
            section += (digit or 1) * POWERS[sign]
            digit = 0
        else:
            total += (section + digit or 1) * MYRIADS[sign]
            section = digit = 0
    return total + section + digit
