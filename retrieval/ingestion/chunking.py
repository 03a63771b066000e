"""Cutting a text into passages that fit the embedding model, knowing where each one stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from semantic_text_splitter import MarkdownSplitter, TextSplitter

MAX_TOKENS = 300
# Small neighbours are merged until a passage has this many tokens.
MIN_TOKENS = 128
# Less than this, such as a heading alone, is no passage: it begins the next one.
TINY_TOKENS = 16
# What the title and the headings may add when the passage is embedded.
CONTEXT_TOKENS = 120
# Texts are split in parts of about this many characters, to bound memory and let others run.
PART_CHARACTERS = 20_000
HEADING = re.compile(r"^(#{1,6}) +(\S.*)$", re.MULTILINE)
LEADING_HEADINGS = re.compile(r"(?:\s*#{1,6} [^\n]*(?:\n|$))+")
TABLE = re.compile(
    r"^\|([^\n]*)\|[ ]*\n\|(?:[ ]*:?-+:?[ ]*\|)+[ ]*\n((?:\|[^\n]*(?:\n|$))+)", re.MULTILINE
)
CELL_END = re.compile(r"(?<!\\)\|")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Passage:
    """A piece of a text: `text[start:end]`, under these headings, on these pages (from 1).

    The rows of a table stand under its header, which then is the last of the headings.
    """

    text: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    page_start: int | None
    page_end: int | None


@dataclass(frozen=True)
class Heading:
    """A heading line and where it begins."""

    start: int
    level: int
    text: str


@dataclass(frozen=True)
class Table:
    """Where the rows of a Markdown table stand, and what its header says."""

    start: int
    end: int
    header: str


def passages(
    text: str,
    page_starts: Sequence[int],
    *,
    count_tokens: Callable[[str], int],
    window: int = 512,
) -> Iterator[Passage]:
    """Yield the passages of `text` in order.

    Sizes are tokens of the embedding model; `window` is the most it reads at once.
    """
    most = max(TINY_TOKENS, min(MAX_TOKENS, window - CONTEXT_TOKENS) - TINY_TOKENS)
    capacity = (min(MIN_TOKENS, most), most)
    headings = find_headings(text)
    kind = MarkdownSplitter if headings or "\n| --- |" in text else TextSplitter
    # The splitter would copy a tokenizer given to it, 300 MB for a large vocabulary, and be slower.
    splitter = kind.from_callback(count_tokens, capacity)
    starts = [heading.start for heading in headings]
    tables = find_tables(text)
    for offset, part in parts(text, starts, page_starts):
        pieces = [(start, start + len(piece)) for start, piece in splitter.chunk_indices(part)]
        for begin, finish in join_tiny(part, pieces, count_tokens):
            piece, start, end = part[begin:finish], offset + begin, offset + finish
            if any(character.isalnum() for character in piece):
                first = start + body(piece)
                above = heading_path(headings[: bisect_right(starts, first)])
                above += header_at(tables, first)
                yield Passage(piece, start, end, above, *pages(page_starts, start, end))


def join_tiny(
    text: str, pieces: Sequence[tuple[int, int]], count_tokens: Callable[[str], int]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of pieces, those too small to stand alone joined to the next."""
    begin: int | None = None
    for start, end in pieces:
        begin = start if begin is None else begin
        long = end - begin > 25 * TINY_TOKENS
        if long or end == pieces[-1][1] or count_tokens(text[begin:end]) >= TINY_TOKENS:
            yield begin, end
            begin = None


def body(piece: str) -> int:
    """Return where a passage's text begins, after the headings at its start."""
    headings = LEADING_HEADINGS.match(piece)
    return headings.end() if headings else 0


def find_headings(text: str) -> list[Heading]:
    """Return the Markdown headings of a text, without those in code blocks."""
    if "#" not in text:
        return []
    fences = [match.span() for match in FENCE.finditer(text)]
    fence_starts = [start for start, _ in fences]
    found = []
    for match in HEADING.finditer(text):
        fence = bisect_right(fence_starts, match.start()) - 1
        if fence < 0 or match.start() >= fences[fence][1]:
            words = match[2].strip().rstrip("#").strip()
            found.append(Heading(match.start(), len(match[1]), words[:200]))
    return found


def find_tables(text: str) -> list[Table]:
    """Return the Markdown tables of a text, in order."""
    found = []
    for match in TABLE.finditer(text) if "\n|" in text else ():
        cells = (cell.strip().replace("\\|", "|") for cell in CELL_END.split(match[1]))
        header = " | ".join(cell for cell in cells if cell)
        found.append(Table(match.start(2), match.end(2), header[:200]))
    return found


def header_at(tables: Sequence[Table], position: int) -> tuple[str, ...]:
    """Return the header of the table among whose rows a place is."""
    index = bisect_right(tables, position, key=lambda table: table.start) - 1
    within = index >= 0 and position < tables[index].end and tables[index].header
    return (tables[index].header,) if within else ()


def heading_path(above: Sequence[Heading]) -> tuple[str, ...]:
    """Return the headings that a place stands under, outermost first."""
    path: list[str] = []
    level = 7
    for heading in reversed(above):
        if heading.level < level:
            path.append(heading.text)
            level = heading.level
        if level == 1:
            break
    return tuple(reversed(path))


def pages(page_starts: Sequence[int], start: int, end: int) -> tuple[int | None, int | None]:
    """Return the first and last page, from 1, of `text[start:end]`."""
    if not page_starts:
        return None, None
    first = max(1, bisect_right(page_starts, start))
    return first, max(first, bisect_right(page_starts, end - 1))


def parts(
    text: str, heading_starts: Sequence[int], page_starts: Sequence[int] = ()
) -> Iterator[tuple[int, str]]:
    """Cut a text at its pages, so that each passage has one, and where it is long once more.

    That is where it does least harm: at headings, else between paragraphs or words.
    """
    cuts = [0, *(start for start in page_starts if 0 < start < len(text)), len(text)]
    for start, end in pairwise(cuts):
        if start < end:
            yield from shorter_parts(text, start, end, heading_starts)


def shorter_parts(
    text: str, start: int, end: int, heading_starts: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Cut `text[start:end]` into parts of at most PART_CHARACTERS."""
    while end - start > PART_CHARACTERS:
        limit = start + PART_CHARACTERS
        position = bisect_right(heading_starts, limit) - 1
        cut = heading_starts[position] if position >= 0 else 0
        if cut <= start + PART_CHARACTERS // 2:
            floor = start + PART_CHARACTERS // 2
            for separator in ("\n\n", "\n", " "):
                if (cut := text.rfind(separator, floor, limit)) > 0:
                    cut += len(separator)
                    break
            else:
                cut = limit
        yield start, text[start:cut]
        start = cut
    yield start, text[start:end]


def embedded_text(title: str, passage_headings: Sequence[str], text: str) -> str:
    """Return what is embedded of a passage: its title and headings say what it is about."""
    context = [part for part in dict.fromkeys((title, *passage_headings)) if part]
    return "\n".join([" › ".join(context)[: CONTEXT_TOKENS * 2], text]) if context else text
