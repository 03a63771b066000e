"""The pages of a PDF as text: lines joined to paragraphs, headings marked, running heads dropped.

A PDF knows lines, not paragraphs; what is a heading is guessed from type sizes by the extractor,
and believed only where it also reads like one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any

from retrieval.ingestion.pdf_pages import TABLE
from retrieval.ingestion.plain_text import clean
from retrieval.ingestion.structure import Text

HEADING_CHARACTERS = 100
LETTER = re.compile(r"\w")
LETTERS_A_PAGE = 3
NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.?\s+[^\W\d_]")
SENTENCES = re.compile(r"[^\W\d]{2}[.!?] +[^\W\d]")
DIGITS = re.compile(r"\d+")
# "12", "– 12 –", "Page 3 of 20", "Seite 3/20", "第 3 页": nothing but the number of a page.
PAGE_WORD = r"(?:pages?|pg|p|seite|s|página|pagina|pág|pag|стр|страница|σελ|صفحة|第|頁|页|ページ)"
PAGE_NUMBER = re.compile(
    rf"\W*(?:{PAGE_WORD}\W*)?\d+(?:\W*(?:of|von|de|di|sur|из|共)?\W*\d+)?\W*(?:{PAGE_WORD}\W*)?",
    re.IGNORECASE,
)
# Within a line of other words: "Handbook 2026, page 3", "Handbook 3 / 20".
NUMBERED_PAGE = re.compile(
    r"\b(?:page|seite|página|pagina|страница)\W*\d+|\d+\s*/\s*\d+|第\s*\d+\s*[页頁]", re.IGNORECASE
)
# U+0002 stands where a hyphen ended a line: it was part of a name only before a capital or digit.
SOFT_HYPHEN = re.compile("\x02\n?(?=(.?))")
# A mark in front of a word of a script written from right to left belongs behind it.
BEFORE_WORD = re.compile(r"(?<!\S)[.,:!،؛؟](?=[\u0590-\u08ff])")
BEHIND_WORD = re.compile(r"(?<=[\u0590-\u08ff])[.,:!،؛؟](?!\S)")
RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff]")
ITEM = re.compile(r"\s*(?:[-*•·▪◦‣–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
# Lines at the edges of that many pages, and of that share of them, are a running head.
RUNNING_PAGES = 3
RUNNING_SHARE = 0.4
# Lines at the top and at the bottom; of a page of a few lines only the outermost.
EDGE_LINES = 2
# Markdown's: the line was meant to end here.
HARD_BREAK = "  \n"


def render(
    pages: Sequence[str],
    nodes: Iterable[Mapping[str, Any]],
    text: Text,
    tables: Sequence[Sequence[str]] = (),
) -> None:
    """Add the pages to `text`, numbered from 1; `nodes` are the extractor's, for headings.

    `tables` are those of each page, which stand where its lines name them.
    """
    lines = [clean(tidy(page)).split("\n") for page in pages]
    headings = find_headings(nodes)
    for number, page in enumerate(without_running_heads(lines), 1):
        placed = dict(enumerate(tables[number - 1])) if number <= len(tables) else {}
        text.add(paragraphs(page, headings.get(number, {}), placed), number)


def is_blank(page: str) -> bool:
    """Whether a page has no text to speak of: a stamp or a page number may stand on a scan."""
    return len(LETTER.findall(page)) < LETTERS_A_PAGE


def is_textless(pages: Sequence[str]) -> bool:
    """Whether what there is comes from layer names, or from fonts without a character map."""
    lines = {line for page in pages for line in page.splitlines()}
    return sum(len(LETTER.findall(line)) for line in lines) < LETTERS_A_PAGE * max(1, len(pages))


def tidy(page: str) -> str:
    """Return the page's text in reading order, with words joined that a line's end had cut."""
    page = in_reading_order(page.replace("\r\n", "\n"))
    return SOFT_HYPHEN.sub(lambda at: "-" if at[1].isupper() or at[1].isdigit() else "", page)


def in_reading_order(page: str) -> str:
    """Return the page with the words of right-to-left lines in the order they are read in.

    Some programs place each word by itself, as it is seen: the last word of a line comes first.
    What gives them away are full stops and commas in front of words.
    """
    if len(BEFORE_WORD.findall(page)) <= len(BEHIND_WORD.findall(page)):
        return page
    return "\n".join(map(read_backwards, page.split("\n")))


def read_backwards(line: str) -> str:
    """Return a line's words in reverse, but words of other scripts that stand together."""
    if not RIGHT_TO_LEFT.search(line):
        return line
    runs = groupby(line.split(), key=lambda word: RIGHT_TO_LEFT.search(word) is not None)
    ordered = [list(words)[:: -1 if right_to_left else 1] for right_to_left, words in runs]
    return " ".join(word for words in reversed(ordered) for word in words)


def find_headings(nodes: Iterable[Mapping[str, Any]]) -> dict[int, dict[str, int]]:
    """Return the level of each line that is a heading, by page."""
    found: dict[int, dict[str, int]] = {}
    for node in nodes:
        content = node["content"]
        line = " ".join(str(content.get("text") or "").split("\n")[0].split())
        if content["node_type"] == "heading" and reads_as_heading(str(content["text"]).strip()):
            numbered = NUMBERED.match(line)
            level = numbered[1].count(".") + 2 if numbered else int(content["level"])
            found.setdefault(node.get("page") or 0, {})[line] = min(level, 6)
    return found


def reads_as_heading(text: str) -> bool:
    """Whether a line in large type is a heading, rather than a figure or a lead paragraph."""
    if "\n" in text or len(text) > HEADING_CHARACTERS or text.endswith((".", ",", ";", ":")):
        return False
    if SENTENCES.search(text):
        return False
    letters = sum(character.isalpha() for character in text)
    numbered = NUMBERED.match(text)
    first = text[numbered.end() - 1] if numbered else text[:1]
    return letters >= 3 and first.isalpha() and not first.islower()


def without_running_heads(pages: list[list[str]]) -> list[list[str]]:
    """Return the pages without page numbers, and lines that stand just so at the edges of many.

    Where each of them stands first it stays, and so it does on pages that hold nothing else. What
    else has numbers stays everywhere: "Question 7" counts as page 7 does.
    """
    seen: dict[str, list[tuple[int, int]]] = {}
    for number, page in enumerate(pages):
        filled = [position for position, line in enumerate(page) if line.strip()]
        edge = EDGE_LINES if len(filled) > 3 * EDGE_LINES else 1
        for position in dict.fromkeys([*filled[:edge], *filled[-edge:]]):
            line = DIGITS.sub("", page[position]).strip()
            if line != TABLE and len(line) <= 2 * HEADING_CHARACTERS:
                seen.setdefault(line, []).append((number, position))
    enough = max(RUNNING_PAGES, RUNNING_SHARE * len(pages))
    dropped = {
        place
        for places in seen.values()
        if len({number for number, _ in places}) >= enough
        for place in repeats([(*place, pages[place[0]][place[1]]) for place in places])
    }
    kept = [
        [line for position, line in enumerate(page) if (number, position) not in dropped]
        for number, page in enumerate(pages)
    ]
    return [
        less if any(map(str.strip, less)) else page for less, page in zip(kept, pages, strict=True)
    ]


def repeats(lines: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    """Yield where lines that differ in numbers only, each with its place, tell nothing new.

    That is where the same was said before, and where a number counts the pages.
    """
    counting = counts_pages([(number, line) for number, _, line in lines])
    before: set[str] = set()
    for number, position, line in lines:
        if line in before or (counting and before and is_page_number(line)):
            yield number, position
        before.add(line)


def is_page_number(line: str) -> bool:
    """Whether a line is the number of its page, or says it beside what else it says."""
    return bool(PAGE_NUMBER.fullmatch(line) or NUMBERED_PAGE.search(line))


def counts_pages(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether lines that differ in numbers only, each with its page, differ as page numbers do.

    At least half of them must be as far from each other as their pages are.
    """
    if len({line for _, line in lines}) == 1:
        return True
    numbers = [[int(each[:9]) for each in DIGITS.findall(line)] for _, line in lines]
    width = min(map(len, numbers))
    distances = (
        Counter(found[place] - page for (page, _), found in zip(lines, numbers, strict=True))
        for place in range(width)
    )
    return any(2 * max(each.values()) >= len(lines) for each in distances)


def paragraphs(
    lines: Sequence[str], headings: Mapping[str, int], tables: Mapping[int, str] | None = None
) -> str:
    """Return a page's lines as paragraphs, list items, headings and tables.

    A line is joined with the next if it is about as long as the page's lines usually are; breaks
    after short lines were meant (addresses, tables, forms).
    """
    filled = [" ".join(line.split()) for line in lines if line.strip()]
    if not filled:
        return ""
    usual = usual_length(filled)
    placed = {f"{TABLE}{number}": table for number, table in (tables or {}).items()}
    levels = {line: headings.get(line) or section_level(line) for line in filled}
    marked = {line: f"{'#' * level} {line}" for line, level in levels.items() if level} | placed
    text = marked.get(filled[0], filled[0])
    for previous, line in pairwise(filled):
        if previous in marked or line in marked:
            gap = "\n\n"
        elif goes_on(previous, line, usual):
            gap = "" if written_without_spaces(previous[-1]) else " "
        else:
            gap = "\n\n" if previous.endswith((".", "!", "?", "。")) else HARD_BREAK
        text += gap + marked.get(line, line)
    return text


def usual_length(lines: Sequence[str]) -> int:
    """Return the length that half of the text stands in lines of at least.

    Not the longest (one line may reach across the page above two narrow columns), nor that of
    most lines (a table has many short ones).
    """
    lengths = sorted(map(len, lines))
    so_far = list(accumulate(lengths))
    return lengths[bisect_left(so_far, so_far[-1] / 2)]


def goes_on(previous: str, line: str, usual: int) -> bool:
    """Whether `previous` ended only because the page or column did.

    A line that begins with a small letter goes on with a sentence; one that does not may be the
    next row of a table, unless the line before is as long as any.
    """
    if usual < 30 or ITEM.match(line):
        return False
    return len(previous) >= (0.6 if line[0].islower() else 0.85) * usual


def section_level(line: str) -> int | None:
    """Return the level of a heading such as `3.1 Expense claims`, None for any other line."""
    numbered = NUMBERED.match(line)
    if numbered and "." in numbered[1] and reads_as_heading(line):
        return min(numbered[1].count(".") + 2, 6)
    return None


def written_without_spaces(character: str) -> bool:
    """Whether a character is of a script that has no spaces: Chinese, Japanese."""
    return "\u2e80" <= character <= "\u9fff" or "\uff00" <= character <= "\uffef"
