"""The extracted structure of a document as one Markdown text, knowing where its pages begin."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.plain_text import clean

# A "heading" longer than this is a paragraph in a large font.
HEADING_CHARACTERS = 160
SKIPPED_LAYERS = {"header", "footer"}
LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)")
TYPE = re.compile(r"\*\*|~~|</?(?:u|sub|sup|mark)>")
ITALIC = re.compile(r"(?<![\w*\\])\*([^\s*](?:[^*\n]{0,200}[^\s*\\])?)\*(?![\w*])")
ITEM = re.compile(r"\s*(?:-|(?:\w{1,4}[.)]){1,5}) ")
BULLET = re.compile(r"^\s*[-*•·▪◦‣]\s+")


@dataclass
class Text:
    """Text that grows by blocks; `page_starts` are offsets in code points, one a page.

    What would make it longer than `limit` raises ExtractionError.
    """

    paged: bool
    limit: int = 10**9
    parts: list[str] = field(default_factory=list)
    length: int = 0
    page_starts: list[int] = field(default_factory=list)

    def add(self, block: str, page: int | None, *, tight: bool = False) -> None:
        """Append a block that stands on `page`; a tight one follows after a single newline."""
        block = clean(block).strip("\n")
        if not block.strip():
            return
        gap = ("\n" if tight else "\n\n") if self.parts else ""
        if self.paged and page is not None:
            start = self.length + len(gap)
            self.page_starts += [start] * (page - len(self.page_starts))
        self.parts.append(gap + block)
        self.length += len(gap) + len(block)
        if self.length > self.limit:
            raise ExtractionError("too-large")

    def add_blocks(self, blocks: Iterable[str], page: int | None) -> None:
        """Append blocks that stand on `page`, the items of a list without gaps."""
        before = False
        for block in blocks:
            item = ITEM.match(block) is not None
            bullet = block.lstrip().startswith("- ")
            self.add(block, page, tight=bullet or (item and before))
            before = item

    def begin_page(self, number: int) -> None:
        """Have page `number`, and any before it that has no start yet, begin here."""
        if self.paged:
            start = self.length + 2 * bool(self.parts)
            self.page_starts += [start] * (number - len(self.page_starts))

    def __str__(self) -> str:
        return "".join(self.parts)


def render(nodes: Iterable[Mapping[str, Any]], text: Text) -> None:
    """Add kreuzberg's document nodes to `text`."""
    ordered: dict[int, int | None] = {}
    for position, node in enumerate(nodes):
        content = node["content"]
        kind = content["node_type"]
        page = node.get("page")
        if kind == "list":
            ordered[position] = 0 if content.get("ordered") else None
        if kind == "slide":
            text.add(heading(1, content.get("title") or ""), content.get("number"))
        elif node.get("content_layer") not in SKIPPED_LAYERS:
            number = _number(ordered, node.get("parent")) if kind == "list_item" else None
            block = _block(kind, content, number)
            text.add(block, page, tight=kind == "list_item" and number != 1)


def _number(ordered: dict[int, int | None], parent: int | None) -> int | None:
    """Return the item's number in its list, None in a list of bullets."""
    count = ordered.get(parent) if parent is not None else None
    if count is None or parent is None:
        return None
    ordered[parent] = count + 1
    return count + 1


def _block(kind: str, content: Mapping[str, Any], number: int | None) -> str:
    raw = html.unescape(str(content.get("text") or content.get("description") or ""))
    body = plain(raw)
    match kind:
        case "heading":
            return heading(content["level"], body)
        case "list_item":
            return f"{f'{number}.' if number else '-'} {BULLET.sub('', body.strip())}"
        case "table":
            return table(content["grid"])
        case "code":
            return f"```\n{raw}\n```" if len(raw) < 4000 else raw
        case _:
            return body


def heading(level: int, text: str) -> str:
    """Return a heading line; what is too long for one is a paragraph."""
    words = " ".join(text.split())
    return f"{'#' * min(level, 6)} {words}" if 0 < len(words) <= HEADING_CHARACTERS else words


def plain(text: str) -> str:
    """Return text without the addresses of links and the marks of type; a link may be a picture."""
    text = LINK.sub(r"\1", LINK.sub(r"\1", text))
    return ITALIC.sub(r"\1", TYPE.sub("", text))


def table(grid: Mapping[str, Any]) -> str:
    """Return kreuzberg's table as Markdown."""
    rows = [[""] * grid["cols"] for _ in range(grid["rows"])]
    for cell in grid["cells"]:
        if cell["row"] < len(rows) and cell["col"] < grid["cols"]:
            rows[cell["row"]][cell["col"]] = plain(html.unescape(str(cell["content"])))
    return markdown_table(rows)


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; its first row is the header. Empty rows and columns are left out."""
    width = max((len(row) for row in rows), default=0)
    lines = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    lines = [[*line, *[""] * (width - len(line))] for line in lines if any(line)]
    filled = [column for column in range(width) if any(line[column] for line in lines)]
    written = [f"| {' | '.join(line[column] for column in filled)} |" for line in lines]
    return "\n".join([*written[:1], "|" + " --- |" * len(filled), *written[1:]]) if filled else ""


def inner_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table that stands in a cell of another one."""
    return "; ".join(", ".join(filter(None, row)) for row in rows if any(row))
