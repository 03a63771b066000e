"""Sentences of a passage, with where they stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sentencex

from retrieval.backends.base import Sentence
from retrieval.text import language as languages
from retrieval.text.terms import content, stems, words

# A block is a paragraph, a list item with the lines it goes on for, a heading, or a table row: a
# sentence never reaches beyond it, although a line may end within a sentence, unless two spaces
# say that the break was meant.
_rule = r"[ \t]*(?:[-=*_][ \t]*){3,}$"
_marker = r"(?:[-*+•‣▪–][ \t]+|\d{1,3}[.)][ \t]+|>[ \t]?)"
_row = r"[ \t]*\|"
_heading = r"[ \t]{0,3}\#{1,6}[ \t]"
_block = re.compile(
    rf"{_rule}|(?P<line>(?:{_row}|{_heading}).*)|[ \t]*{_marker}?(?P<body>\S.*"
    rf"(?:(?<![ ]{{2}})\n(?![ \t]*$|{_rule}|{_row}|{_heading}|[ \t]*{_marker}).*)*)",
    re.MULTILINE,
)
_spaces = "".join(filter(str.isspace, map(chr, range(0x3001))))
_nothing = re.compile(r"[\s|:=_*+-]*")


def split(text: str, language: str = "") -> tuple[Sentence, ...]:
    """Return the sentences of `text`: `text[start:end]` is a sentence without outer spaces.

    `language` is an ISO 639-1 code; "" lets the text say. List items, headings and table rows are
    sentences of their own.
    """
    language = language or languages.guess(words(text))
    return tuple(
        _sentence(text, start, end, language, is_heading=is_heading)
        for start, end, is_heading in _spans(text, language)
    )


def _spans(text: str, language: str) -> Iterator[tuple[int, int, bool]]:
    for block in _block.finditer(text):
        if line := block["line"]:
            for start, end in _trimmed(text, *block.span(), outer=_spaces + "|#"):
                yield start, end, line.lstrip().startswith("#")
        elif block["body"]:
            offset = block.start("body")
            for found in sentencex.get_sentence_boundaries(language or "en", block["body"]):
                for start, end in _trimmed(
                    text, offset + found["start_index"], offset + found["end_index"]
                ):
                    yield start, end, False


def _trimmed(
    text: str, start: int, end: int, outer: str | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the span without what surrounds it; nothing if only lines and spaces are left."""
    piece = text[start:end]
    if not _nothing.fullmatch(piece):
        start += len(piece) - len(piece.lstrip(outer))
        yield start, start + len(piece.strip(outer))


def _sentence(text: str, start: int, end: int, language: str, *, is_heading: bool) -> Sentence:
    sentence = text[start:end]
    found = content(words(sentence), language)
    # The words beside their stems: the question's language may have been taken for another.
    terms = frozenset([*found, *stems(found, language, singles=True)])
    return Sentence(sentence, start, end, terms, is_heading)
