"""OpenDocument texts, presentations and sheets, zipped or as one flat XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.packages import Package, properties
from retrieval.ingestion.structure import Text, heading, inner_table, markdown_table

SPACE = re.compile(r"[ \t\r\n]+")
SKIPPED = {"tracked-changes", "forms", "sequence-decls", "shapes", "ruby-text", "desc", "settings"}
ROWS = {"table-header-rows", "table-rows", "table-row-group"}
CELLS = {"table-cell", "covered-table-cell"}
# Repeated rows and columns fill a sheet to its edge; nothing real repeats so often.
MOST_COLUMNS = 2000
MOST_REPEATS = 1000
MOST_CELLS = 3_000_000


def read(data: bytes, text: Text) -> dict[str, Any]:
    """Add the blocks of a zipped document to `text`, and return what it says of itself.

    Raises ExtractionError.
    """
    package = Package(data)
    content = package.xml("content.xml")
    if content is None:
        raise ExtractionError("corrupt")
    manifest = package.xml("META-INF/manifest.xml")
    if manifest is not None and manifest.find(".//encryption-data") is not None:
        raise ExtractionError("encrypted")
    _Reader(content, package.xml("styles.xml")).document(text)
    return properties(package.xml("meta.xml"))


def read_flat(root: Element, text: Text) -> dict[str, Any]:
    """Add the blocks of a document that is one XML to `text`. Raises ExtractionError."""
    _Reader(root, root).document(text)
    return properties(root.find("meta"))


class _Reader:
    def __init__(self, content: Element, styles: Element | None) -> None:
        body = content.find("body")
        if body is None or not len(body):
            raise ExtractionError("corrupt")
        self.body = body[-1]
        self.master = styles.find("master-styles") if styles is not None else None
        self.parents: dict[str, str] = {}
        self.numbered: set[str] = set()
        self.in_table = False
        self.cells = 0
        self.deleting = False
        self.deletions = {
            region.get("id") for region in content.iter("changed-region")
            if region.find("deletion") is not None
        }  # fmt: skip
        for root in (styles, content):
            for group in ("styles", "automatic-styles"):
                self.learn(root.find(group) if root is not None else None)

    def learn(self, styles: Element | None) -> None:
        """Note what styles are based on, and which lists have numbers."""
        for style in styles if styles is not None else ():
            name = style.get("name", "")
            self.parents[name] = style.get("parent-style-name", "")
            first = style[0] if style.tag == "list-style" and len(style) else style
            if first.tag == "list-level-style-number" and first.get("num-format"):
                self.numbered.add(name)

    def document(self, text: Text) -> None:
        """Add all blocks; slides and sheets are pages."""
        if self.body.tag == "presentation":
            for number, slide in enumerate(self.body.findall("page"), 1):
                self.slide(slide, number, text)
        elif self.body.tag == "spreadsheet":
            for number, sheet in enumerate(self.body.findall("table"), 1):
                text.begin_page(number)
                rows = self.rows(sheet)
                if any(map(any, rows)):
                    text.add(heading(2, sheet.get("name", "")), number)
                    text.add(markdown_table(rows), number)
        else:
            text.add_blocks(self.running("header"), None)
            text.add_blocks(self.blocks(self.body), None)
            text.add_blocks(self.running("footer"), None)

    def running(self, kind: str) -> Iterator[str]:
        """Yield the text of headers or footers, each once."""
        found = self.master.iter(kind) if self.master is not None else ()
        blocks = ("\n".join(self.blocks(each)) for each in found)
        yield from dict.fromkeys(block for block in blocks if any(map(str.isalpha, block)))

    def slide(self, slide: Element, number: int, text: Text) -> None:
        """Add a slide: its title, what stands on it, and its notes."""
        text.begin_page(number)
        frames = [each for each in slide if each.tag != "notes"]
        frames.sort(key=lambda frame: frame.get("class") != "title")
        for frame in frames:
            blocks = list(self.blocks([frame]))
            if frame.get("class") == "title" and blocks:
                blocks = [heading(2, " ".join(blocks))]
            text.add_blocks(blocks, number)
        notes = [frame for each in slide.findall("notes") for frame in each.findall("frame")]
        said = "\n".join(self.blocks(each for each in notes if each.get("class") == "notes"))
        text.add(f"Notes: {said}" if said else "", number)

    def blocks(self, parent: Iterable[Element], marker: str = "") -> Iterator[str]:
        """Yield paragraphs, headings, list items and tables."""
        for element in parent:
            match element.tag:
                case "h" | "p":
                    yield from self.paragraph(element, marker)
                case "list":
                    yield from self.list_items(element, marker)
                case "table":
                    yield from self.table(element)
                case tag if tag not in SKIPPED:
                    yield from self.blocks(element, marker)

    def paragraph(self, element: Element, marker: str) -> Iterator[str]:
        anchored: list[str] = []
        words = "".join(self.inline(element, anchored)).strip()
        if element.tag == "h" and words:
            level = element.get("outline-level", "1")
            yield heading(int(level) if level.isdigit() else 1, words)
        elif words:
            title = "Title" in (name := element.get("style-name", ""), self.parents.get(name))
            yield heading(1, words) if title and not marker else f"{marker}{words}"
        yield from anchored

    def list_items(self, element: Element, marker: str) -> Iterator[str]:
        """Yield a list's items; its style, unless it is within another list, tells if it counts."""
        numbered = element.get("style-name", "") in self.numbered
        indent = "  " if marker else ""
        indent += " " * (len(marker) - len(marker.lstrip()))
        for number, item in enumerate(element.findall("list-item"), 1):
            yield from self.blocks(item, f"{indent}{f'{number}.' if numbered else '-'} ")

    def inline(self, parent: Element, anchored: list[str]) -> Iterator[str]:
        """Yield the words of a paragraph; what does not belong into its line is `anchored`."""
        yield self.kept(parent.text)
        for element in parent:
            match element.tag:
                case "change-start":
                    self.deleting = element.get("change-id") in self.deletions
                case "change-end":
                    self.deleting = False
                case "s":
                    yield " " * min(_count(element, "c"), 100)
                case "tab" | "line-break" as white:
                    yield "\t" if white == "tab" else "\n"
                case "note":
                    mark = f"[^{_text(element.find('note-citation'))}]"
                    note = " ".join(self.blocks(element.findall("note-body")))
                    anchored.append(f"{mark}: {note}")
                    yield mark
                case "annotation":
                    anchored.append(self.comment(element))
                case "frame" | "custom-shape" | "rect" | "ellipse":
                    anchored += self.blocks([element])
                case tag if tag not in SKIPPED:
                    yield from self.inline(element, anchored)
            yield self.kept(element.tail)

    def kept(self, text: str | None) -> str:
        """Return text as it is meant: white space of the XML's layout is one space."""
        return SPACE.sub(" ", text) if text and not self.deleting else ""

    def comment(self, element: Element) -> str:
        author = _text(element.find("creator")) or "a reviewer"
        return f"Comment by {author}: {' '.join(self.blocks(element.findall('p')))}"

    def table(self, element: Element) -> Iterator[str]:
        nested, self.in_table = self.in_table, True
        rows = self.rows(element)
        self.in_table = nested
        if max(map(len, rows), default=0) == 1:
            yield from (row[0] for row in rows if row[0])
        else:
            yield inner_table(rows) if nested else markdown_table(rows)

    def rows(self, element: Element) -> list[list[str]]:
        """Return the cells' words by row; empty rows at the end of a sheet are not there."""
        rows: list[list[str]] = []
        above: dict[int, tuple[int, str]] = {}
        for row in _rows(element):
            line = self.row(row, above)
            repeats = min(_count(row, "number-rows-repeated"), MOST_REPEATS) if any(line) else 1
            rows += [line] * repeats
            self.cells += repeats * len(line)
            if self.cells > MOST_CELLS:
                raise ExtractionError("too-large")
        return rows

    def row(self, element: Element, above: dict[int, tuple[int, str]]) -> list[str]:
        """Return a row; `above` holds the words of cells that reach into the next rows."""
        line: list[str] = []
        for cell in element:
            if cell.tag not in CELLS or len(line) > MOST_COLUMNS:
                continue
            left, words = above.get(len(line), (0, ""))
            if cell.tag == "table-cell":
                left, words = _count(cell, "number-rows-spanned"), self.words(cell)
            above[len(line)] = (left - 1, words)
            repeats = _count(cell, "number-columns-repeated")
            line += [words if left > 0 else ""] * min(repeats, MOST_COLUMNS)
        while line and not line[-1]:
            line.pop()
        return line

    def words(self, cell: Element) -> str:
        """Return what a cell says, then what is said of it."""
        blocks = list(self.blocks(each for each in cell if each.tag != "annotation"))
        if len(blocks) == 1:
            blocks = [blocks[0].removeprefix("- ")]
        blocks += map(self.comment, cell.findall("annotation"))
        return " ".join(" ".join(blocks).split())


def _rows(parent: Element) -> Iterator[Element]:
    for element in parent:
        if element.tag == "table-row":
            yield element
        elif element.tag in ROWS:
            yield from _rows(element)


def _count(element: Element, name: str) -> int:
    value = element.get(name, "1")
    return int(value) if value.isdigit() else 1


def _text(element: Element | None) -> str:
    return "".join(element.itertext()).strip() if element is not None else ""
