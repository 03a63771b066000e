"""A passage in its document, for people to check: as text, and as what stands on which page."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from django.db.models.functions import Substr

from chat.unwrapping import NOTHING, unwrapped
from retrieval.models import Chunk, DocumentVersion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import AnonymousUser, User

# Code points of the document on either side of a passage, and of what is shown more of it.
SURROUNDING_CHARS = 1500
MORE_CHARS = 6000
HEADING = re.compile(r"^#{1,6} +", re.MULTILINE)
# A text begins and ends with a line where one is near, else with a word.
TO_BEGINNING = re.compile(r"[^\n]{0,300}\n+|\S*\s+")
FROM_END = re.compile(r"\n[^\n]{0,300}\Z|\s\S*\Z")


@dataclass(frozen=True)
class Piece:
    """A part of a document's text, and where it stands there; None at the document's ends."""

    text: str
    start: int | None
    end: int | None


@dataclass(frozen=True)
class MarkedPage:
    """What of a passage, and of its quote, stands on a page; `number` counts from 1."""

    number: int
    passage: str
    quote: str


@dataclass(frozen=True)
class Excerpt:
    """A passage in its document: `lead`, `quote` and `trail` between what is above and below."""

    above: Piece
    lead: str
    quote: str
    trail: str
    below: Piece
    pages: list[MarkedPage]

    @property
    def page_data(self) -> list[dict[str, object]]:
        """What is to be marked on which page, for the page's scripts; its quote's page first."""
        quoted = sorted(self.pages, key=lambda page: not page.quote)
        return [asdict(page) for page in quoted]


def excerpt(
    chunk: Chunk | None,
    user: User | AnonymousUser,
    quote: str = "",
    place: tuple[int, int] | None = None,
) -> Excerpt | None:
    """Cut `chunk` with its surroundings out of its version's text, and find `quote` in it.

    `place` is where the quote stands in the version's text, if that is known. None when the chunk
    is gone or `user` may no longer see it.
    """
    if chunk is None or not _is_visible(chunk, user):
        return None
    start, end = chunk.char_start - SURROUNDING_CHARS, chunk.char_end + SURROUNDING_CHARS
    around = _piece(chunk, start, end, keep=(chunk.char_start, chunk.char_end))
    offset = chunk.char_start - (around.start or 0)
    length = chunk.char_end - chunk.char_start
    rest = around.text[offset:]
    from_, to = _within(place, chunk.char_start, len(rest)) or _find(quote, rest)
    # A sentence may go on in the next chunk.
    length = max(length, to)
    media_type, starts = _layout(chunk)
    # All of it at once: a paragraph may begin above the passage.
    shown = unwrapped(around.text, media_type)
    above, lead, quote, trail, below = (
        _readable(shown[slice(*part)], media_type)
        for part in pairwise([0, offset, offset + from_, offset + to, offset + length, None])
    )
    return Excerpt(
        above=Piece(above, around.start, chunk.char_start),
        lead=lead,
        quote=quote,
        trail=trail,
        below=Piece(below, chunk.char_start + length, around.end),
        pages=_pages(starts, chunk, rest[:length], (from_, to)),
    )


def text_before(chunk: Chunk, position: int, user: User | AnonymousUser) -> Piece | None:
    """Return what stands before `position` in the chunk's document; None if it may not be seen."""
    return _more(chunk, position - MORE_CHARS, position, user, keep=(position, position))


def text_after(chunk: Chunk, position: int, user: User | AnonymousUser) -> Piece | None:
    """Return what stands behind `position` in the chunk's document; None if it may not be seen."""
    return _more(chunk, position, position + MORE_CHARS, user, keep=(position, position))


def _more(
    chunk: Chunk, start: int, end: int, user: User | AnonymousUser, keep: tuple[int, int]
) -> Piece | None:
    if not _is_visible(chunk, user):
        return None
    piece = _piece(chunk, start, end, keep)
    media_type, _ = _layout(chunk)
    text = _readable(unwrapped(piece.text, media_type), media_type)
    return Piece(text, piece.start, piece.end)


def _is_visible(chunk: Chunk, user: User | AnonymousUser) -> bool:
    return Chunk.objects.visible_to(user).filter(pk=chunk.pk).exists()


def _piece(chunk: Chunk, start: int, end: int, keep: tuple[int, int]) -> Piece:
    """Read [start, end) of the document's text, shortened to whole lines or words, but `keep`."""
    start = max(0, start)
    length = max(0, end - start)
    text = (
        DocumentVersion.objects.filter(pk=chunk.version_id)
        .values_list(Substr("text", start + 1, length + 1), flat=True)
        .get()
    )
    goes_on, text = len(text) > length, text[:length]
    if start and (found := TO_BEGINNING.match(text, 0, max(0, keep[0] - start))):
        text, start = text[found.end() :], start + found.end()
    if goes_on and (found := FROM_END.search(text, max(0, keep[1] - start))):
        text = text[: found.start()]
    return Piece(text, start or None, start + len(text) if goes_on else None)


def _layout(chunk: Chunk) -> tuple[str, Sequence[int]]:
    return (
        DocumentVersion.objects.filter(pk=chunk.version_id)
        .values_list("media_type", "page_starts")
        .get()
    )


def _readable(text: str, media_type: str) -> str:
    """Return the text without hashes: extraction writes headings as Markdown does."""
    text = text.replace(NOTHING, "")
    return text if media_type == "text/plain" else HEADING.sub("", text)


def _pages(
    starts: Sequence[int], chunk: Chunk, text: str, quote: tuple[int, int]
) -> list[MarkedPage]:
    """Part a passage, which `text` is, and its quote, by the pages that begin at `starts`."""
    begin = chunk.char_start
    if not starts:
        return [MarkedPage(chunk.page_start, text, text[slice(*quote)])] if chunk.page_start else []
    found = []
    for number, (first, next_) in enumerate(pairwise([*starts, begin + len(text)]), 1):
        low, high = max(first - begin, 0), min(next_ - begin, len(text))
        if low < high:
            quoted = text[max(low, quote[0]) : max(low, min(high, quote[1]))]
            found.append(MarkedPage(number, text[low:high], quoted))
    return found


def _within(place: tuple[int, int] | None, start: int, length: int) -> tuple[int, int] | None:
    """Return a place relative to `start`, if all of it is in the `length` that follows."""
    if place is None or not start <= place[0] < place[1] <= start + length:
        return None
    return place[0] - start, place[1] - start


def _find(quote: str, passage: str) -> tuple[int, int]:
    """Return where `quote` stands in `passage`, white space aside; (0, 0) if it does not."""
    words = quote.strip("… ").split()
    found = re.search(r"\s+".join(map(re.escape, words)), passage) if words else None
    return found.span() if found else (0, 0)
