"""What a search found: chunks, with the scores each stage gave them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from retrieval.backends.base import Passage, Sentence
from retrieval.text import sentences

# Passages whose words and sentences are remembered: some are found again and again.
REMEMBERED = 1000


@dataclass(frozen=True)
class Place:
    """Where a chunk stands: [start, end) are code points of its version's text."""

    version_id: UUID
    ordinal: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Hit:
    """A chunk that was found, with what is said of its document.

    `scores` are by stage, high is good: `vector` (cosine similarity, whatever found it),
    `nearness` (the negative distance, by another measure), `fulltext` (BM25), `fused`, `reranked`.
    """

    id: UUID
    text: str
    heading_path: tuple[str, ...]
    page: int | None
    language: str
    document_id: UUID
    title: str
    scores: dict[str, float]
    place: Place | None = None
    parts: tuple[tuple[int, Hit], ...] = ()
    """The chunks it was merged from, each with where it begins in `text`."""
    repeats: tuple[Hit, ...] = ()
    """Chunks that say the same in other places."""

    @property
    def chunks(self) -> list[Hit]:
        """Every chunk this stands for: itself or its parts, and their repeats."""
        own = [part for _, part in self.parts] or [self]
        return [*own, *(repeat for hit in own for repeat in hit.repeats)]

    def part_at(self, offset: int) -> Hit:
        """Return the chunk that holds a place of `text`."""
        starting = [part for start, part in self.parts if start <= offset]
        return starting[-1] if starting else self

    def place_of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where [start, end) of `text` stands in the text of the version, if known."""
        first, last = self._position(start), self._position(end - 1)
        return None if first is None or last is None else (first, last + 1)

    def _position(self, offset: int) -> int | None:
        begin, part = next(
            ((begin, part) for begin, part in reversed(self.parts) if begin <= offset), (0, self)
        )
        return part.place.start + offset - begin if part.place else None

    @property
    def heading(self) -> str:
        """The headings above the chunk, outermost first."""
        return " › ".join(self.heading_path)

    def scored(self, stage: str, score: float) -> Hit:
        """Return this hit with one more score."""
        return Hit(**{**vars(self), "scores": {**self.scores, stage: score}})


def passage(hit: Hit, index: int) -> Passage:
    """Return a hit as rerankers and generators see it, as number `index`."""
    return Passage(
        index=index,
        text=hit.text,
        title=hit.title,
        heading=hit.heading,
        page=hit.page,
        language=hit.language,
        scores=hit.scores,
        analyse=lambda text: split(text, hit.language),
    )


@lru_cache(maxsize=REMEMBERED)
def split(text: str, language: str) -> tuple[Sentence, ...]:
    """Return the sentences of a passage."""
    return sentences.split(text, language)


def passages(hits: Iterable[Hit]) -> list[Passage]:
    """Return hits as passages, numbered from 1."""
    return [passage(hit, index) for index, hit in enumerate(hits, start=1)]
