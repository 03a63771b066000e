"""A document's text for any width: of a paragraph that was wrapped at a column, one line.

Code, tables, verse and lists stay as they are, and so does a break that may be meant.
"""

from __future__ import annotations

import re

KEEPING_LINES = frozenset({"text/plain", "text/markdown"})
# Stands in the place of indentation: a text keeps its length, and the places in it. No text that
# PostgreSQL stores has it.
NOTHING = "\0"
# The columns that people wrap at: shorter lines are verse or lists, longer ones paragraphs.
NARROWEST = 60
WIDEST = 120
# The part of it that the longest line has, of which each must have taken so much, with a word more.
FULL = 0.9
# What is longer on an average is of a script without spaces, or no words.
LONGEST_WORD = 12

ITEM = r"(?:[-*+•]|\d{1,3}[.)]) +"
BEGINS = rf"(?:{ITEM}|[>|#]|[=-]+$|`{{3}}|~{{3}})"
PARAGRAPH = re.compile(
    r"^(?P<fence>`{3,}|~{3,})(?s:.*?)(?:^(?P=fence)|\Z)"
    rf"|^(?P<lead> *{ITEM}| {{0,3}}(?![>|#]))\S.*"
    rf"\n(?P<indent> *)(?!{BEGINS})\S.*(?:\n(?P=indent)(?!{BEGINS})\S.*)*",
    re.MULTILINE,
)
# Columns, and lines that Markdown ends on purpose.
SET = re.compile(r"\t|[^\s*+•.)-] {3}|\||(?: {2}|\\)$", re.MULTILINE)


def unwrapped(text: str, media_type: str) -> str:
    """Return a text of the same length whose wrapped paragraphs are one line each; see `NOTHING`.

    Only that of files which keep their lines, by `media_type`, is another one.
    """
    return PARAGRAPH.sub(_joined, text) if media_type in KEEPING_LINES else text


def _joined(found: re.Match[str]) -> str:
    indent = found["indent"] or ""
    # An item's lines begin below its words, or at the margin.
    if found["fence"] or len(indent) not in (0, len(found["lead"])):
        return found[0]
    lines = [line.strip(" ") for line in found[0].split("\n")]
    if SET.search(found[0]) or not _are_wrapped(lines):
        return found[0]
    return found[0].replace(f"\n{indent}", " " + NOTHING * len(indent))


def _are_wrapped(lines: list[str]) -> bool:
    """Whether each line ends where the next word had no room, and one of them in a sentence."""
    column = max(map(len, lines))
    words = [line.split() for line in lines]
    if not NARROWEST <= column <= WIDEST or len({first for first, *_ in words}) == 1:
        return False
    if sum(map(len, lines)) > LONGEST_WORD * sum(map(len, words)):
        return False
    breaks = [(line, after[0]) for line, after in zip(lines, words[1:], strict=False)]
    return all(len(line) + 1 + len(word) > FULL * column for line, word in breaks) and any(
        word[0].islower() or (line[-1].isalpha() and word[0].isalpha()) for line, word in breaks
    )
