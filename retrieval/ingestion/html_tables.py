"""Tables of web pages: cells that reach over others, tables in cells, tables that are frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.structure import heading, inner_table, markdown_table

# As browsers have it.
MOST_COLUMNS = 1000
MOST_CELLS = 3_000_000
# What is longer is no entry of a table, but a part of the page.
ENTRY_CHARACTERS = 2000
# Words that reach into the next rows are said again in each, unless they are as long as this.
REPEATED_CHARACTERS = 200


@dataclass
class Block:
    """A paragraph, a heading of a `level`, or the rows of a table."""

    text: str = ""
    level: int = 0
    rows: Sequence[Sequence[str]] = ()

    def rendered(self) -> str:
        """Return it as Markdown."""
        if self.rows:
            return markdown_table(self.rows)
        return heading(self.level, self.text) if self.level else self.text

    def words(self) -> str:
        """Return it as it stands in a cell."""
        return inner_table(self.rows) if self.rows else self.text


@dataclass
class Cell:
    """A cell, and how many columns and rows it reaches over."""

    columns: int
    rows: int
    blocks: list[Block] = field(default_factory=list)

    def words(self) -> str:
        """Return what it says in one line."""
        words = [block.words() for block in self.blocks]
        if len(words) == 1:
            words = [words[0].strip().removeprefix("- ")]
        return " ".join(" ".join(words).split())


@dataclass
class Table:
    """A table as it is read; one of `layout` only places parts of the page."""

    layout: bool = False
    rows: list[list[Cell]] = field(default_factory=list)

    def blocks(self) -> Iterator[Block]:
        """Yield the table, or what is in it if it is but a frame. Raises ExtractionError."""
        if self.is_frame():
            for row in self.rows:
                for cell in row:
                    yield from cell.blocks
        elif rows := list(_grid(self.rows)):
            yield Block(rows=rows)

    def is_frame(self) -> bool:
        """Whether it has one column, or parts of the page in its cells."""
        cells = [cell for row in self.rows for cell in row]
        return (
            self.layout
            or all(len(row) <= 1 for row in self.rows)
            or any(block.level for cell in cells for block in cell.blocks)
            or any(len(block.text) > ENTRY_CHARACTERS for cell in cells for block in cell.blocks)
        )


def _grid(rows: Iterable[Sequence[Cell]]) -> Iterator[list[str]]:
    """Yield the words by row, those of merged cells in each row that they reach into."""
    above: dict[int, tuple[int, str]] = {}
    count = 0
    for row in rows:
        line: list[str] = []
        for cell in row:
            _fill(line, above)
            words = cell.words()
            repeated = words if len(words) <= REPEATED_CHARACTERS else ""
            for column in range(cell.columns if cell.rows > 1 else 0):
                above[len(line) + column] = (cell.rows - 1, "" if column else repeated)
            line += [words, *[""] * (cell.columns - 1)]
        _fill(line, above)
        while len(line) < max(above, default=0):
            line.append("")
            _fill(line, above)
        count += len(line)
        if count > MOST_CELLS:
            raise ExtractionError("too-large")
        if any(line):
            yield line


def _fill(line: list[str], above: dict[int, tuple[int, str]]) -> None:
    """Add what reaches from the rows above into the columns that come next."""
    while len(line) in above:
        left, words = above.pop(len(line))
        if left > 1:
            above[len(line)] = (left - 1, words)
        line.append(words)
