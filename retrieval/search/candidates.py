"""Candidates: what vector and full-text search found, each loaded with both of its scores.

A guess at the score of what only the other search found would misplace it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from retrieval.connections import Row
from retrieval.database import Statement, fetch
from retrieval.search import fulltext, vector
from retrieval.search.fulltext import WeightedWords
from retrieval.search.hits import Hit
from retrieval.search.scope import SEARCHED, Scope
from retrieval.search.settings import SearchSettings
from retrieval.search.vector import Meaning

FIELDS = (
    "chunk.id, chunk.text, chunk.heading_path, chunk.page_start, version.language, document.id,"
    " document.title"
)


@dataclass(frozen=True)
class Words:
    """A question's words, and the best chunks that hold one."""

    weighted: WeightedWords
    chunks: Sequence[UUID]


async def load(
    scope: Scope, settings: SearchSettings, meaning: Meaning | None, words: Words | None
) -> list[Hit]:
    """Return the `top_k` nearest chunks in scope and those that hold the words, in any order.

    One statement: the nearest are found, scored and read on one way to the database. Raises
    DatabaseError.
    """
    if meaning is None and (words is None or not words.chunks):
        return []
    nearest = Statement("SELECT NULL::uuid AS id")
    near = Statement("NULL")
    joined = ""
    if meaning is not None:
        nearest = vector.nearest(meaning, scope, settings.top_k)
        near = Statement(f"1 - {meaning.space.distance}", [vector.text_of(meaning.vector)])
        joined = (
            f" LEFT JOIN {vector.EMBEDDING}"
            f" ON embedding.chunk_id = chunk.id AND {meaning.space.of_space}"
        )
    rank = fulltext.bm25(words.weighted) if words else Statement("0")
    condition, visible = scope.condition
    rows = await fetch(
        f"WITH nearest AS MATERIALIZED ({nearest.sql}),"
        " found AS (SELECT id FROM nearest UNION SELECT unnest(%s::uuid[]))"
        f" SELECT {FIELDS}, {near.sql}, {rank.sql}"
        f" FROM found JOIN ({SEARCHED}) ON chunk.id = found.id{joined} WHERE {condition}",
        [
            *nearest.params,
            list(words.chunks if words else ()),
            *(*near.params, *rank.params, *visible),
        ],
        vector.configuration(settings) if meaning else None,
    )
    return [hit_of(row) for row in rows]


def hit_of(row: Row) -> Hit:
    """Return a row as a hit, with the scores that it has."""
    id_, text, heading_path, page, language, document, title, similarity, rank = row
    scores = {}
    if similarity is not None:
        scores["vector"] = similarity
    if rank:
        scores["fulltext"] = rank
    return Hit(id_, text, tuple(heading_path), page, language, document, title, scores)
