"""The text of a version, a part at a time: some have thousands of pages."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from django.db.models.functions import Length, Substr

from retrieval.models import DocumentVersion

if TYPE_CHECKING:
    from collections.abc import Sequence

# Code points of a part.
PART = 20_000


@dataclass(frozen=True)
class Segment:
    """A piece of a part that stands on one page; `page` is None where there are no pages."""

    page: int | None
    text: str
    begins: bool
    """Whether the page begins here, and not in the part before."""


@dataclass(frozen=True)
class Part:
    """A part of a text, `number` of `count`."""

    number: int
    count: int
    segments: tuple[Segment, ...]
    pages: int

    @property
    def before(self) -> int:
        """The number of the part before."""
        return self.number - 1

    @property
    def after(self) -> int:
        """The number of the part behind."""
        return self.number + 1


def part_of(version: DocumentVersion, number: int = 1, page: int | None = None) -> Part:
    """Return a part of a version's text: the one asked for, or where a page begins.

    What is out of range becomes the first or the last part.
    """
    starts = version.page_starts
    rows = DocumentVersion.objects.filter(pk=version.pk)
    length = rows.values_list(Length("text"), flat=True).get()
    count = max(1, -(-length // PART))
    if page is not None and starts:
        number = starts[min(max(page, 1), len(starts)) - 1] // PART + 1
    number = min(max(number, 1), count)
    first = (number - 1) * PART
    text = rows.values_list(Substr("text", first + 1, PART), flat=True).get()
    return Part(number, count, tuple(segments(text, first, starts)), len(starts))


def segments(text: str, first: int, starts: Sequence[int]) -> list[Segment]:
    """Return a text that begins at `first` of the whole, cut where its pages begin."""
    if not starts:
        return [Segment(None, text, False)] if text else []
    last = first + len(text)
    # Pages without text begin where the next one does.
    cuts = sorted({first, last, *(start for start in starts if first <= start < last)})
    return [
        Segment(
            page=bisect_right(starts, begin) or None,
            text=text[begin - first : end - first],
            begins=begin in starts,
        )
        for begin, end in pairwise(cuts)
    ]
