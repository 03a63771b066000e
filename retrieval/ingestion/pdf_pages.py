"""The text of a PDF's pages, and the tables that its ruled lines make, by pdfium."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pypdfium2 as pdfium
from pypdfium2 import raw

from retrieval.ingestion import pdf_fields
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.structure import markdown_table

# A table's place in its page's text: this character, which no text has, and the table's number.
TABLE = "\ufdd0"
# Rules closer than this, in points, are the two edges of one.
TOLERANCE = 3.0
SHORTEST = 6.0
# Drawings of more lines than a table has.
MOST_RULES = 4000
MOST_SEGMENTS = 20_000
# A "cell" longer than this is a box around a text.
CELL_CHARACTERS = 1500
# Two such cells side by side hold rows that no rules divide: their lines say more than the grid.
CELL_LINES = 4


Point = tuple[float, float]


@dataclass
class Page:
    """What a page says; a line of `text` that is a TABLE and a number stands for a table."""

    text: str
    tables: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Rule:
    """A straight line: at `at`, from `start` to `end`, across or down the page."""

    at: float
    start: float
    end: float

    def covers(self, position: float) -> bool:
        """Whether it reaches as far as `position`."""
        return self.start - TOLERANCE <= position <= self.end + TOLERANCE


class Grid:
    """Rules that cross each other: `columns` from the left, `rows` from the top."""

    def __init__(self, across: Sequence[Rule], down: Sequence[Rule]) -> None:
        self.across = across
        self.down = down
        self.columns = merged(rule.at for rule in down)
        self.rows = merged(rule.at for rule in across)[::-1]
        self.words: dict[tuple[int, int], list[str]] = {}
        self.baselines: dict[tuple[int, int], set[float]] = {}

    def cell(self, x: float, y: float) -> tuple[int, int] | None:
        """Return row and column of a point; cells without a rule between them are one."""
        row = next((n for n, low in enumerate(self.rows[1:]) if low <= y <= self.rows[n]), None)
        if row is None or not self.columns[0] <= x <= self.columns[-1]:
            return None
        column = max(n for n, left in enumerate(self.columns) if left <= x)
        while column > 0 and not self.divided(self.columns[column], y):
            column -= 1
        return row, min(column, len(self.columns) - 2)

    def divided(self, x: float, y: float) -> bool:
        """Whether there is a rule between columns at this height."""
        return any(abs(rule.at - x) <= TOLERANCE and rule.covers(y) for rule in self.down)

    def add(self, cell: tuple[int, int], character: str, place: Point | None) -> None:
        """Put a character into a cell."""
        self.words.setdefault(cell, []).append(character)
        if place is not None:
            self.baselines.setdefault(cell, set()).add(place[1])

    def markdown(self) -> str:
        """Return the table, `""` if the rules make none."""
        lines = {cell: len(merged(found)) for cell, found in self.baselines.items()}
        long = [row for (row, _), count in lines.items() if count >= CELL_LINES]
        if len(long) > len(set(long)):
            return ""
        texts = {cell: " ".join("".join(words).split()) for cell, words in self.words.items()}
        filled = [cell for cell, text in texts.items() if text]
        several = len({row for row, _ in filled}) > 1 and len({column for _, column in filled}) > 1
        if not several or max(map(len, texts.values())) > CELL_CHARACTERS:
            return ""
        width = len(self.columns) - 1
        return markdown_table(
            [[texts.get((row, column), "") for column in range(width)]
             for row in range(len(self.rows) - 1)]
        )  # fmt: skip


def read(data: bytes) -> list[Page]:
    """Return the pages of a PDF. Raises ExtractionError."""
    try:
        with pdfium.PdfDocument(data) as document:
            if document.get_formtype() != raw.FORMTYPE_NONE:
                document.init_forms()
            return [_whole(document, number) for number in range(len(document))]
    except pdfium.PdfiumError as error:
        raise _explained(error) from error


def picture(data: bytes, number: int, *, dpi: int, pixels: int) -> bytes:
    """Return a page, from 0, as a grey picture (PNM) of at most so many pixels.

    Raises ExtractionError.
    """
    try:
        with pdfium.PdfDocument(data) as document:
            page = document[number]
            width, height = (max(1.0, side / 72) for side in page.get_size())
            scale = min(dpi, math.sqrt(pixels / (width * height))) / 72
            bitmap = page.render(scale=scale, grayscale=True)
            lines = bytes(bitmap.buffer)
            size, stride = bitmap.width, bitmap.stride
            rows = (lines[at * stride : at * stride + size] for at in range(bitmap.height))
            return b"P5 %d %d 255\n" % (size, bitmap.height) + b"".join(rows)
    except pdfium.PdfiumError as error:
        raise _explained(error) from error


def _explained(error: Exception) -> ExtractionError:
    return ExtractionError("encrypted" if "password" in str(error).lower() else "corrupt")


def _whole(document: pdfium.PdfDocument, number: int) -> Page:
    """Return a page with what was filled in and noted at its end."""
    page = document[number]
    found = _page(page)
    beside = "\n".join(pdf_fields.read(document, page)).replace(TABLE, "")
    return Page(f"{found.text}\n{beside}", found.tables) if beside else found


def _page(page: pdfium.PdfPage) -> Page:
    text = page.get_textpage()
    grids = list(_grids(page))
    while grids:
        outside = _fill(grids, text)
        tables = [grid.markdown() for grid in grids]
        if all(tables):
            return Page(outside, tables)
        grids = [
            Grid(grid.across, grid.down) for grid, table in zip(grids, tables, strict=True) if table
        ]
    return Page(text.get_text_range(errors="replace").replace(TABLE, ""))


def _fill(grids: Sequence[Grid], text: pdfium.PdfTextPage) -> str:
    """Put a page's characters into the grids, and return those that stand outside."""
    outside: list[str] = []
    current: tuple[Grid, tuple[int, int]] | None = None
    for character, place in _characters(text):
        # Spaces and ends of lines have no place: they belong where the character before them is.
        if place is not None:
            cells = ((grid, grid.cell(*place)) for grid in grids)
            current = next(((grid, cell) for grid, cell in cells if cell is not None), None)
        if current is None:
            outside.append(character)
        else:
            grid, cell = current
            if not grid.words:
                outside.append(f"\n{TABLE}{grids.index(grid)}\n")
            grid.add(cell, character, place)
    return "".join(outside)


def _characters(text: pdfium.PdfTextPage) -> Iterator[tuple[str, Point | None]]:
    """Yield a page's characters, and where on a line each stands."""
    x, y = ctypes.c_double(), ctypes.c_double()
    for index in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, index)
        character = chr(code) if 0 < code < 0x110000 and chr(code) != TABLE else ""
        placed = not character.isspace() and raw.FPDFText_GetCharOrigin(text, index, x, y)
        yield character, (x.value, y.value) if placed else None


def _grids(page: pdfium.PdfPage) -> Iterator[Grid]:
    """Yield the grids of at least two rows and columns, those higher on the page first."""
    across, down = _rules(page)
    if not across or not down or len(across) + len(down) > MOST_RULES:
        return
    groups: list[tuple[list[Rule], list[Rule]]] = []
    for rule in down:
        crossing = [each for each in across if each.covers(rule.at) and rule.covers(each.at)]
        joined = [group for group in groups if any(each in group[0] for each in crossing)]
        groups = [group for group in groups if group not in joined]
        lines = dict.fromkeys([*crossing, *(each for group in joined for each in group[0])])
        groups.append((list(lines), [rule, *(each for group in joined for each in group[1])]))
    found = [Grid(*group) for group in groups]
    grids = [grid for grid in found if len(grid.columns) > 2 and len(grid.rows) > 2]
    yield from sorted(grids, key=lambda grid: -grid.rows[0])


def _rules(page: pdfium.PdfPage) -> tuple[list[Rule], list[Rule]]:
    """Return the straight lines of a page, across and down, as long as a cell's sides."""
    across: list[Rule] = []
    down: list[Rule] = []
    for (x, y), (to_x, to_y) in _lines(page):
        if abs(to_y - y) < TOLERANCE / 2 and abs(to_x - x) > SHORTEST:
            across.append(Rule((y + to_y) / 2, min(x, to_x), max(x, to_x)))
        elif abs(to_x - x) < TOLERANCE / 2 and abs(to_y - y) > SHORTEST:
            down.append(Rule((x + to_x) / 2, min(y, to_y), max(y, to_y)))
    return list(dict.fromkeys(across)), list(dict.fromkeys(down))


def _lines(page: pdfium.PdfPage) -> Iterator[tuple[Point, Point]]:
    """Yield the straight segments of what is drawn on a page."""
    left = MOST_SEGMENTS
    x, y = ctypes.c_float(), ctypes.c_float()
    for path in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1):
        matrix = path.get_matrix()
        count = raw.FPDFPath_CountSegments(path)
        left -= count
        if left < 0:
            return
        start = before = (0.0, 0.0)
        for index in range(count):
            segment = raw.FPDFPath_GetPathSegment(path, index)
            raw.FPDFPathSegment_GetPoint(segment, x, y)
            point = matrix.on_point(x.value, y.value)
            kind = raw.FPDFPathSegment_GetType(segment)
            if kind == raw.FPDF_SEGMENT_LINETO:
                yield before, point
            elif kind == raw.FPDF_SEGMENT_MOVETO:
                start = point
            if raw.FPDFPathSegment_GetClose(segment):
                yield point, start
            before = point


def merged(positions: Iterable[float]) -> list[float]:
    """Return positions in order, those closer than TOLERANCE as one."""
    found: list[float] = []
    for position in sorted(positions):
        if not found or position - found[-1] > TOLERANCE:
            found.append(position)
    return found
