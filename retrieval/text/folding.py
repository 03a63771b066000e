"""Folding: one form for the ways a word can be written."""

from __future__ import annotations

import re
import unicodedata

# Letters that Unicode does not take apart into a letter and a mark.
LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe",
                         "ı": "i", "ħ": "h", "ŧ": "t", "ĸ": "k", "ŋ": "n"})  # fmt: skip
# Accents of Latin and Greek letters; in Cyrillic only the stress and the dots of ё, because й and
# ї are letters of their own; the vowel points of Hebrew and Arabic, the hamza above or below, and
# the stretched Arabic letter. Marks of other scripts are vowels: without them words fall together.
MARKS = re.compile(
    "(?<=[a-z\u0370-\u03ff\u1f00-\u1fff])[\u0300-\u036f]+|(?<=[\u0430-\u045f])\u0301|(?<=\u0435)\u0308"
    "|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")


def fold(text: str) -> str:
    """Return `text` in compatibility form, lower case, without accents: Zürich becomes zurich."""
    if text.isascii():
        return text.lower()
    text = INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold().translate(LETTERS)
    return unicodedata.normalize("NFC", MARKS.sub("", unicodedata.normalize("NFD", text)))
