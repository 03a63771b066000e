"""What a search found: chunks, with the scores each stage gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from retrieval.backends.base import Passage
from retrieval.models import Chunk
from retrieval.text import sentences

if TYPE_CHECKING:
    from retrieval.models import Document, DocumentVersion


@dataclass(frozen=True)
class Hit:
    """A chunk that was found.

    The chunk comes with its version (without the text), document and collection. `scores` are by
    stage, high is good: `vector` (cosine similarity), `fulltext` (BM25), `fused`, `reranked`.
    """

    chunk: Chunk
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def version(self) -> DocumentVersion:
        """The version of the document that the chunk is of."""
        return self.chunk.version

    @property
    def document(self) -> Document:
        """The document."""
        return self.chunk.version.document

    @property
    def heading(self) -> str:
        """The headings above the chunk, outermost first."""
        return " › ".join(self.chunk.heading_path)

    def scored(self, stage: str, score: float) -> Hit:
        """Return this hit with one more score."""
        return replace(self, scores={**self.scores, stage: score})


def load(scores: Mapping[UUID, dict[str, float]]) -> list[Hit]:
    """Return the hits for chunk ids and their scores, in the same order; one query.

    A chunk that was deleted meanwhile is left out.
    """
    chunks = (
        Chunk.objects.filter(id__in=list(scores))
        .select_related("version__document__collection")
        .defer("fulltext", "version__text", "version__page_starts")
        .in_bulk()
    )
    return [Hit(chunks[id_], by_stage) for id_, by_stage in scores.items() if id_ in chunks]


def passage(hit: Hit, index: int) -> Passage:
    """Return a hit as rerankers and generators see it, as number `index`."""
    return Passage(
        index=index,
        text=hit.chunk.text,
        title=hit.document.title,
        heading=hit.heading,
        page=hit.chunk.page_start,
        language=hit.version.language,
        scores=hit.scores,
        analyse=partial(sentences.split, language=hit.version.language),
    )


def passages(hits: Iterable[Hit]) -> list[Passage]:
    """Return hits as passages, numbered from 1."""
    return [passage(hit, index) for index, hit in enumerate(hits, start=1)]
