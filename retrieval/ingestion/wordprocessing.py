"""Word files: paragraphs, headings, lists, tables, notes, comments, text boxes, running heads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.numbering import Numbering
from retrieval.ingestion.packages import Package, properties
from retrieval.ingestion.structure import Text, heading, inner_table, markdown_table

# Elements whose children stand in their place, and such as hold nothing that is read.
WRAPPERS = {
    "sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "hyperlink", "fldSimple", "r",
    "AlternateContent", "Choice", "drawing", "pict", "shape", "object", "group", "ruby", "rubyBase",
}  # fmt: skip
SKIPPED = {"del", "moveFrom", "pPr", "rPr", "instrText", "delText", "Fallback", "rt", "sectPr"}
CHARACTERS = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "\N{NON-BREAKING HYPHEN}"}
LETTER = re.compile(r"[^\W\d_]")


def read(data: bytes, text: Text) -> dict[str, Any]:
    """Add a Word file's blocks to `text`, and return what it says of itself.

    Raises ExtractionError.
    """
    package = Package(data)
    name = next((name for _, name in package.related("", "officeDocument")), "")
    document = package.xml(name)
    body = document.find("body") if document is not None else None
    if body is None:
        raise ExtractionError("corrupt")
    reader = _Reader(package, name)
    running = {kind: list(reader.running(body, kind)) for kind in ("header", "footer")}
    text.add_blocks((*running["header"], *reader.blocks(body), *running["footer"]), None)
    return properties(package.one("", "core-properties"))


class _Reader:
    """Renders the body and what it refers to; counts its lists and notes as it goes."""

    def __init__(self, package: Package, name: str) -> None:
        self.package = package
        self.name = name
        self.in_running = False
        self.in_table = False
        self.styles = _by_id(package.one(name, "styles"), "style", "styleId")
        self.numbering = Numbering(package.one(name, "numbering"))
        self.notes = {
            kind: _by_id(package.one(name, f"{kind}s"), kind, "id")
            for kind in ("footnote", "endnote", "comment")
        }

    def running(self, body: Element, kind: str) -> Iterator[str]:
        """Yield the text of headers or footers, each once; page numbers alone are left out."""
        self.in_running = True
        parts = dict(self.package.related(self.name, kind))
        seen = set()
        for reference in body.iter(f"{kind}Reference"):
            root = self.package.xml(parts.pop(reference.get("rid", ""), ""))
            block = "\n".join(self.blocks(root)) if root is not None else ""
            if LETTER.search(block) and block not in seen:
                seen.add(block)
                yield block
        self.in_running = False

    def blocks(self, parent: Iterable[Element]) -> Iterator[str]:
        """Yield the paragraphs and tables of a part, a cell or a text box."""
        for element in parent:
            if element.tag == "p":
                yield from self.paragraph(element)
            elif element.tag == "tbl":
                yield from self.table(element)
            elif element.tag in WRAPPERS:
                yield from self.blocks(element)

    def paragraph(self, element: Element) -> Iterator[str]:
        """Yield a paragraph, then what is anchored in it: text boxes, pictures' texts, notes."""
        anchored: list[str] = []
        pieces = list(self.inline(element, anchored))
        words = (apart(pieces) if self.in_running else "".join(pieces)).strip()
        if words:
            yield self.marked(element, words)
        yield from anchored

    def marked(self, element: Element, words: str) -> str:
        """Return a paragraph's words as the heading, list item or paragraph that they are."""
        style = element.find("pPr/pStyle")
        name = style.get("val", "") if style is not None else ""
        chain = [element.find("pPr"), *self.inherited(name)]
        outline = _first(chain, "outlineLvl")
        label, level = self.numbering.label(
            _first(chain, "numPr/numId"), _first(chain, "numPr/ilvl")
        )
        if outline and outline.isdigit() and int(outline) < 9:
            return heading(int(outline) + 1, f"{label} {words}" if label.strip("-") else words)
        if self.named(name) == "title":
            return heading(1, words)
        return f"{'  ' * level}{label} {words}" if label else words

    def inherited(self, style: str) -> Iterator[Element | None]:
        """Yield the paragraph properties of a style and of those it is based on."""
        seen = set()
        while style in self.styles and style not in seen:
            seen.add(style)
            yield self.styles[style].find("pPr")
            based = self.styles[style].find("basedOn")
            style = based.get("val", "") if based is not None else ""

    def named(self, style: str) -> str:
        """Return a style's name, which is English in every language; its id is not."""
        found = self.styles.get(style)
        name = found.find("name") if found is not None else None
        return name.get("val", "").lower() if name is not None else ""

    def inline(self, parent: Iterable[Element], anchored: list[str]) -> Iterator[str]:
        """Yield the words of a paragraph; what does not belong into its line is `anchored`."""
        for element in parent:
            match element.tag:
                case "t":
                    yield element.text or ""
                case "br":
                    yield "" if element.get("type") == "page" else "\n"
                case "footnoteReference" | "endnoteReference" | "commentReference":
                    yield self.note(element, anchored)
                case "txbxContent":
                    anchored += self.blocks(element)
                case "docPr" if element.get("descr"):
                    anchored.append(" ".join(element.get("descr", "").split()))
                case "r" if element.find("rPr/vanish") is not None:
                    pass
                case tag if tag in CHARACTERS:
                    yield CHARACTERS[tag]
                case tag if tag not in SKIPPED:
                    yield from self.inline(element, anchored)

    def note(self, reference: Element, anchored: list[str]) -> str:
        """Have a note or comment follow the paragraph, and return the mark that refers to it."""
        kind = reference.tag.removesuffix("Reference")
        note = self.notes[kind].pop(reference.get("id", ""), None)
        words = " ".join(self.blocks(note)).strip() if note is not None else ""
        if not words or note is None:
            return ""
        if kind == "comment":
            anchored.append(f"Comment by {note.get('author') or 'a reviewer'}: {words}")
            return ""
        mark = f"[^{'e' * (kind == 'endnote')}{note.get('id')}]"
        anchored.append(f"{mark}: {words}")
        return mark

    def table(self, element: Element) -> Iterator[str]:
        """Yield a table; one of a single column is but a frame around its paragraphs."""
        rows = [list(_within(row, "tc")) for row in _within(element, "tr")]
        if all(len(row) <= 1 for row in rows):
            for row in rows:
                for cell in row:
                    yield from self.blocks(cell)
            return
        nested, self.in_table = self.in_table, True
        above: dict[int, str] = {}
        lines = [self.row(row, above) for row in rows]
        self.in_table = nested
        yield inner_table(lines) if nested else markdown_table(lines)

    def row(self, cells: Sequence[Element], above: dict[int, str]) -> list[str]:
        """Return the cells' words, those of merged cells in each row that they reach into."""
        line: list[str] = []
        for cell in cells:
            merge = cell.find("tcPr/vMerge")
            words = " ".join(" ".join(self.blocks(cell)).split())
            if merge is not None and merge.get("val") != "restart":
                words = words or above.get(len(line), "")
            above[len(line)] = words if merge is not None else ""
            line += [words, *[""] * (_number(cell.find("tcPr/gridSpan")) - 1)]
        return line


def apart(pieces: Sequence[str]) -> str:
    """Return the words of a running head: numbers in it (pages, chapters) stand apart."""
    return "".join(
        f" {piece}" if piece.isdigit() and before[-1:].isalpha() else piece
        for before, piece in pairwise(("", *pieces))
    )


def _within(parent: Element, tag: str) -> Iterator[Element]:
    """Yield the rows of a table or cells of a row, those in content controls too."""
    for element in parent:
        if element.tag == tag:
            yield element
        elif element.tag in WRAPPERS:
            yield from _within(element, tag)


def _by_id(root: Element | None, tag: str, key: str) -> dict[str, Element]:
    return {each.get(key, ""): each for each in root.findall(tag)} if root is not None else {}


def _first(chain: Iterable[Element | None], path: str) -> str:
    for properties_ in chain:
        found = properties_.find(path) if properties_ is not None else None
        if found is not None:
            return found.get("val", "")
    return ""


def _number(element: Element | None) -> int:
    value = element.get("val", "1") if element is not None else "1"
    return min(int(value), 64) if value.isdigit() else 1
