"""What an answer states, and which citations are to support it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chat.frames import CitationData
from retrieval.backends.base import Sentence

# A sentence with fewer terms introduces something, or is a heading.
STATES = 4
_between = re.compile(r"[\s,;.:、，。()（）]*")
_line_start = re.compile(r"[ \t]*(?:[-*+•>#|]+|\d{1,3}[.)])?[ \t]*")


@dataclass(frozen=True)
class Claim:
    """A statement with the markers that stand together behind it, as numbers of citations.

    `sentence` is the span, in the answer, of the sentence that it is or is a part of.
    """

    text: str
    sentence: tuple[int, int]
    citations: tuple[int, ...]


@dataclass(frozen=True)
class Claims:
    """The statements of an answer that cite, and how many of its sentences stand without that."""

    cited: tuple[Claim, ...] = ()
    uncited: int = 0


def claims_of(
    answer: str, citations: Sequence[CitationData], split: Callable[[str], Sequence[Sentence]]
) -> Claims:
    """Return what an answer states; `split` parts a text into sentences.

    Markers may stand before or behind the full stop, within a sentence (each supports what comes
    before it then), or lead a sentence that follows.
    """
    plain = Unmarked(answer, [citation.span for citation in citations])
    sentences = split(plain.text)
    owned: dict[int, list[int]] = {}
    for number in range(len(citations)):
        owner = _owner(plain, plain.places[number], sentences)
        if owner is not None:
            owned.setdefault(owner, []).append(number)
    claims = [
        claim
        for owner, numbers in sorted(owned.items())
        for claim in _parts(plain, sentences[owner], numbers)
    ]
    blocks = {plain.block(sentences[owner].start) for owner in owned}
    uncited = sum(
        1
        for position, sentence in enumerate(sentences)
        if position not in owned
        and len(sentence.terms) >= STATES
        and plain.block(sentence.start) not in blocks
    )
    return Claims(tuple(claims), uncited)


class Unmarked:
    """An answer without its markers, and where these stood."""

    def __init__(self, answer: str, spans: Sequence[tuple[int, int]]) -> None:
        pieces: list[str] = []
        self.places: list[int] = []
        """Where each marker stood, in `text`."""
        self._removed: list[int] = []  # so much was left out up to each of them
        size = end = removed = 0
        for start, stop in spans:
            piece = answer[end:start].rstrip(" ")
            pieces.append(piece)
            size += len(piece)
            removed += stop - end - len(piece)
            self.places.append(size)
            self._removed.append(removed)
            end = stop
        self.text = "".join([*pieces, answer[end:]])

    def original(self, place: int) -> int:
        """Return a place of `text` in the answer."""
        cut = bisect_right(self.places, place) - 1
        return place + (self._removed[cut] if cut >= 0 else 0)

    def block(self, place: int) -> int:
        """Return the beginning of the paragraph or list item that a place of `text` is in."""
        return self.text.rfind("\n", 0, place) + 1


def _owner(plain: Unmarked, place: int, sentences: Sequence[Sentence]) -> int | None:
    """Return the position of the sentence that a marker at `place` belongs to."""
    if not sentences:
        return None
    before = bisect_right([sentence.start for sentence in sentences], place - 1) - 1
    following = before + 1
    start = plain.block(place)
    leads = _line_start.fullmatch(plain.text[start:place]) is not None
    if following < len(sentences) and (before < 0 or leads):
        line_end = plain.text.find("\n", place)
        if line_end < 0 or sentences[following].start < line_end:
            return following
    return max(before, 0)


def _parts(plain: Unmarked, sentence: Sentence, numbers: Sequence[int]) -> list[Claim]:
    """Return the parts of a sentence, each with the markers behind it."""
    span = (plain.original(sentence.start), plain.original(sentence.end - 1) + 1)
    groups: list[list[int]] = []
    for number in numbers:
        place = plain.places[number]
        last = plain.places[groups[-1][-1]] if groups else None
        if last is not None and _between.fullmatch(plain.text[last:place]):
            groups[-1].append(number)
        else:
            groups.append([number])
    if len(groups) == 1:
        return [Claim(sentence.text, span, tuple(groups[0]))]
    ends = [min(plain.places[group[-1]], sentence.end) for group in groups]
    ends[-1] = sentence.end  # what comes behind the last marker is its own
    starts = [sentence.start, *ends]
    claims = []
    for start, end, group in zip(starts, ends, groups, strict=False):
        text = plain.text[start:end].strip(" ,;.")
        # A few words say nothing by themselves.
        claims.append(Claim(text if len(text.split()) > 2 else sentence.text, span, tuple(group)))
    return claims
