"""PowerPoint files, slide by slide: titles, lists, tables, charts, diagrams, and the notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any
from xml.etree.ElementTree import Element

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.packages import Package, properties
from retrieval.ingestion.structure import Text, heading, markdown_table

TITLES = {"title", "ctrTitle"}
# Date, footer and header are mostly the same on every slide.
RUNNING = {"dt", "ftr", "hdr"}
NUMBER = "sldNum"
GROUPS = {"grpSp", "AlternateContent", "Choice"}


def read(data: bytes, text: Text) -> dict[str, Any]:
    """Add the slides to `text`, a page each, and return what the file says of itself.

    Raises ExtractionError.
    """
    package = Package(data)
    name = next((name for _, name in package.related("", "officeDocument")), "")
    presentation = package.xml(name)
    if presentation is None:
        raise ExtractionError("corrupt")
    parts = dict(package.related(name, "slide"))
    running: set[str] = set()
    for number, slide in enumerate(presentation.iterfind("sldIdLst/sldId"), 1):
        text.begin_page(number)
        part = parts.get(slide.get("rid", ""), "")
        text.add_blocks(_Slide(package, part, running).blocks(), number)
    return properties(package.one("", "core-properties"))


class _Slide:
    """Renders a slide; `running` is what stood at the edges of those before."""

    def __init__(self, package: Package, name: str, running: set[str]) -> None:
        self.package = package
        self.name = name
        self.running = running

    def blocks(self) -> Iterator[str]:
        """Yield the slide's title, what stands on it in order, and its notes."""
        root = self.package.xml(self.name)
        tree = root.find("cSld/spTree") if root is not None else None
        shapes = list(_shapes(tree)) if tree is not None else []
        shapes.sort(key=lambda shape: _role(shape) not in TITLES)
        for shape in shapes:
            yield from self.shape(shape)
        notes = self.package.one(self.name, "notesSlide")
        for shape in _shapes(notes.iter("sp")) if notes is not None else ():
            if _role(shape) == "body" and (said := "\n".join(paragraphs(shape))):
                yield f"Notes: {said}"

    def shape(self, shape: Element) -> Iterator[str]:
        role = _role(shape)
        if role in TITLES:
            yield heading(2, " ".join(paragraphs(shape)))
        elif shape.tag == "graphicFrame":
            yield from self.graphic(shape)
        elif shape.tag == "pic":
            properties_ = shape.find("nvPicPr/cNvPr")
            yield properties_.get("descr", "") if properties_ is not None else ""
        elif role in RUNNING:
            yield from (line for line in paragraphs(shape) if line not in self.running)
            self.running.update(paragraphs(shape))
        elif role != NUMBER:
            lines = list(paragraphs(shape))
            listed = role in {"", "body"} and len(lines) > 1
            yield from (f"- {line}" if listed and line[0] not in " -" else line for line in lines)

    def graphic(self, frame: Element) -> Iterator[str]:
        """Yield a table, the numbers of a chart, or the words of a diagram."""
        for table in frame.iter("tbl"):
            yield markdown_table(_rows(table))
        data = {name: part for kind in ("chart", "diagramData")
                for name, part in self.package.related(self.name, kind)}  # fmt: skip
        for element in frame.iter("chart"):
            chart = self.package.xml(data.get(element.get("rid", ""), ""))
            if chart is not None:
                yield _words(chart.find("chart/title"))
                yield markdown_table(_series(chart))
        for element in frame.iter("relIds"):
            diagram = self.package.xml(data.get(element.get("dm", ""), ""))
            yield from _lines(diagram) if diagram is not None else ()


def paragraphs(shape: Element) -> Iterator[str]:
    """Yield the lines of a shape, those of lists with their marks."""
    number = 0
    for paragraph in shape.iterfind("txBody/p"):
        words = _words(paragraph)
        mark = paragraph.find("pPr")
        level = (
            int(mark.get("lvl", "0")) if mark is not None and mark.get("lvl", "").isdigit() else 0
        )
        number = number + 1 if mark is not None and mark.find("buAutoNum") is not None else 0
        bullet = level > 0 or (mark is not None and mark.find("buChar") is not None)
        if words and number:
            yield f"{'  ' * level}{number}. {words}"
        elif words:
            yield f"{'  ' * level}- {words}" if bullet else words


def _shapes(tree: Iterable[Element]) -> Iterator[Element]:
    for element in tree:
        if element.tag in GROUPS:
            yield from _shapes(element)
        elif element.tag in {"sp", "graphicFrame", "pic", "cxnSp"}:
            yield element


def _role(shape: Element) -> str | None:
    """Return what a placeholder is for, `""` if for any content; None for a shape of its own."""
    place = shape.find("nvSpPr/nvPr/ph")
    return place.get("type", "") if place is not None else None


def _words(parent: Element | None) -> str:
    if parent is None:
        return ""
    pieces = ("\n" if each.tag == "br" else each.text or "" for each in parent.iter())
    return "".join(piece for piece in pieces).strip()


def _lines(root: Element) -> Iterator[str]:
    yield from (f"- {words}" for paragraph in root.iter("p") if (words := _words(paragraph)))


def _rows(table: Element) -> list[list[str]]:
    """Return a table's words by row; a cell that reaches down says the same in each row."""
    rows: list[list[str]] = []
    for row in table.iterfind("tr"):
        line = [" ".join(_words(cell).split()) for cell in row.iterfind("tc")]
        for at, cell in enumerate(row.iterfind("tc")):
            if cell.get("vMerge") and rows and at < len(rows[-1]):
                line[at] = rows[-1][at]
        rows.append(line)
    return rows


def _series(chart: Element) -> list[list[str]]:
    """Return a chart's numbers as a table: categories down, series across."""
    columns: list[list[str]] = [[]]
    for series in chart.iter("ser"):
        points = [[value.text or "" for value in series.iterfind(f"{path}//v")]
                  for path in ("cat", "val", "xVal", "yVal")]  # fmt: skip
        columns[0] = columns[0] or ["", *(points[0] or points[2])]
        columns.append([_first_value(series.find("tx")), *(points[1] or points[3])])
    return [list(row) for row in zip_longest(*columns, fillvalue="")]


def _first_value(element: Element | None) -> str:
    value = element.find(".//v") if element is not None else None
    return value.text or "" if value is not None else ""
