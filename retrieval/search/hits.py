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


@dataclass(frozen=True, eq=False)
class Hit:
    """A chunk that was found, with what is said of its document.

    `scores` are by stage, high is good: `vector` (cosine similarity), `fulltext` (BM25), `fused`,
    `reranked`.
    """

    id: UUID
    text: str
    heading_path: tuple[str, ...]
    page: int | None
    language: str
    document_id: UUID
    title: str
    scores: dict[str, float]

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
