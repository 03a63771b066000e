"""The extracted structure of a document as one Markdown text, knowing where its pages begin."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from retrieval.ingestion.plain_text import clean

# A "heading" longer than this is a paragraph in a large font.
HEADING_CHARACTERS = 160
SKIPPED_LAYERS = {"header", "footer"}
NUMBERS = re.compile(r"\d+")
# What stands at the edge of this many pages is a running head.
RUNNING_PAGES = 3
LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)")
BULLET = re.compile(r"^\s*[-*•·▪◦‣]\s+")


@dataclass
class Text:
    """Text that grows by blocks; `page_starts` are offsets in code points, one a page."""

    paged: bool
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

    def __str__(self) -> str:
        return "".join(self.parts)


def render(nodes: Sequence[Mapping[str, Any]], text: Text, *, pdf: bool) -> None:
    """Add kreuzberg's document nodes to `text`.

    In a PDF, lines that ended only where the page did are joined, and running heads kept once.
    """
    ordered: dict[int, int | None] = {}
    repeated = running_heads(nodes) if pdf else set()
    for position, node in enumerate(nodes):
        if position in repeated:
            continue
        content = node["content"]
        kind = content["node_type"]
        page = node.get("page")
        if kind == "list":
            ordered[position] = 0 if content.get("ordered") else None
        if kind == "slide":
            text.add(_heading(1, content.get("title") or ""), content.get("number"))
        elif pdf or node.get("content_layer") not in SKIPPED_LAYERS:
            number = _number(ordered, node.get("parent")) if kind == "list_item" else None
            block = _block(kind, content, number, unwrap=pdf)
            text.add(block, page, tight=kind == "list_item" and number != 1)


def running_heads(nodes: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the positions of blocks that repeat, but for numbers, at the edges of many pages.

    Where each of them stands first it stays.
    """
    pages: dict[int, list[int]] = {}
    for position, node in enumerate(nodes):
        if node.get("page") and node["content"].get("text"):
            pages.setdefault(node["page"], []).append(position)
    seen: dict[str, list[int]] = {}
    for positions in pages.values():
        for position in dict.fromkeys([*positions[:2], *positions[-2:]]):
            line = str(nodes[position]["content"]["text"])
            if len(line) <= HEADING_CHARACTERS:
                seen.setdefault(NUMBERS.sub("", line).strip(), []).append(position)
    return {
        position
        for positions in seen.values()
        if len(positions) >= RUNNING_PAGES
        for position in positions[1:]
    }


def _number(ordered: dict[int, int | None], parent: int | None) -> int | None:
    """Return the item's number in its list, None in a list of bullets."""
    count = ordered.get(parent) if parent is not None else None
    if count is None or parent is None:
        return None
    ordered[parent] = count + 1
    return count + 1


def _block(kind: str, content: Mapping[str, Any], number: int | None, *, unwrap: bool) -> str:
    raw = html.unescape(str(content.get("text") or content.get("description") or ""))
    body = _unwrap(raw) if unwrap else plain(raw)
    match kind:
        case "heading":
            return _heading(content["level"], body)
        case "list_item":
            return f"{f'{number}.' if number else '-'} {BULLET.sub('', body.strip())}"
        case "table":
            return table(content["grid"])
        case "code":
            return f"```\n{raw}\n```" if len(raw) < 4000 else raw
        case _:
            return body


def _heading(level: int, text: str) -> str:
    words = " ".join(text.split())
    return f"{'#' * min(level, 6)} {words}" if 0 < len(words) <= HEADING_CHARACTERS else words


def _unwrap(text: str) -> str:
    """Join full lines; keep breaks after short ones, which were meant (addresses, forms)."""
    # U+0002 is where a hyphen at a line's end was.
    lines = text.replace("\x02\n", "").replace("\x02", "").split("\n")
    # Not the longest: in a paragraph of a narrow column one line may reach across the page.
    usual = sorted(map(len, lines))[3 * (len(lines) - 1) // 4]
    joined = lines[0]
    for previous, line in pairwise(lines):
        full = usual >= 30 and len(previous) >= 0.7 * usual
        joined += (" " if full else "\n") + line
    return joined


def plain(text: str) -> str:
    """Return text without the addresses of links and the marks of bold type."""
    return LINK.sub(r"\1", text).replace("**", "")


def table(grid: Mapping[str, Any]) -> str:
    """Return a Markdown table; its first row is the header."""
    rows = [[""] * grid["cols"] for _ in range(grid["rows"])]
    for cell in grid["cells"]:
        if cell["row"] < len(rows) and cell["col"] < grid["cols"]:
            value = plain(html.unescape(" ".join(str(cell["content"]).split())))
            rows[cell["row"]][cell["col"]] = value.replace("|", "\\|")
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * grid["cols"], *lines[1:]])
