"""Candidates: what vector and full-text search found, each loaded with both of its scores.

A guess at the score of what only the other search found would misplace it.
"""

from __future__ import annotations

from retrieval.connections import Row
from retrieval.database import Statement, fetch
from retrieval.measures import COSINE, MEASURES
from retrieval.search import fulltext, vector
from retrieval.search.fulltext import WeightedWords
from retrieval.search.hits import Hit, Place
from retrieval.search.scope import SEARCHED, Scope
from retrieval.search.settings import SearchSettings
from retrieval.search.vector import Meaning

FIELDS = (
    "chunk.id, chunk.text, chunk.heading_path, chunk.page_start, version.language, document.id,"
    " document.title, version.id, chunk.ordinal, chunk.char_start, chunk.char_end"
)


async def load(
    scope: Scope,
    settings: SearchSettings,
    meaning: Meaning | None,
    words: WeightedWords | None,
) -> list[Hit]:
    """Return the `top_k` nearest chunks in scope and those that hold the words, in any order.

    One statement: both are found, scored and read on one way to the database. Raises
    DatabaseError, and SearchSettingsError if there is no index for the measure and too much to
    compare.
    """
    if meaning is None and (words is None or not words.terms):
        return []
    nearest = Statement("SELECT NULL::uuid AS id")
    near, measured = Statement("NULL"), Statement("NULL")
    joined, configuration = "", None
    if meaning is not None:
        measure, space = MEASURES[settings.chunk_settings.index_measure], meaning.space
        exact = await vector.must_compare(space, scope, measure)
        nearest = vector.nearest(meaning, scope, settings.top_k, measure, exact=exact)
        asked = vector.text_of(meaning.vector)
        near = Statement(f"1 - {space.cosine_distance}", [asked])
        if measure is not COSINE and not measure.binary:
            measured = Statement(f"-{space.distance(measure)}", [asked])
        joined = (
            f" LEFT JOIN {vector.EMBEDDING} ON embedding.chunk_id = chunk.id AND {space.of_space}"
        )
        if not exact:
            configuration = await vector.configuration(settings, space, measure)
    by_words, rank = Statement("SELECT NULL::uuid AS id, NULL::float8 AS score"), Statement("NULL")
    if words is not None and words.terms:
        by_words, rank = fulltext.best(words, scope, settings), fulltext.bm25(words)
    rows = await fetch(
        f"WITH nearest AS MATERIALIZED ({nearest.sql}),"
        f" by_words AS MATERIALIZED ({by_words.sql}),"
        " found AS (SELECT id FROM nearest UNION SELECT id FROM by_words)"
        f" SELECT {FIELDS}, {near.sql}, {measured.sql}, COALESCE(by_words.score, {rank.sql})"
        f" FROM found JOIN ({SEARCHED}) ON chunk.id = found.id"
        f" LEFT JOIN by_words ON by_words.id = found.id{joined}",
        [*nearest.params, *by_words.params, *near.params, *measured.params, *rank.params],
        configuration,
    )
    return [hit_of(row) for row in rows]


def hit_of(row: Row) -> Hit:
    """Return a row as a hit, with the scores that it has."""
    id_, text, heading_path, page, language, document, title, *rest = row
    *place, similarity, nearness, rank = rest
    scores = {}
    if similarity is not None:
        scores["vector"] = similarity
    if nearness is not None:
        scores["nearness"] = nearness
    if rank:
        scores["fulltext"] = rank
    return Hit(
        id_, text, tuple(heading_path), page, language, document, title, scores, Place(*place)
    )
