"""Search by meaning: the chunks whose vectors are nearest to the question's, as SQL."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from django.conf import settings

from retrieval import backends
from retrieval.backends.base import BackendError, Embedder, Vectors
from retrieval.database import Statement, fetch
from retrieval.measures import COSINE, TABLE, Measure
from retrieval.search import term_statistics
from retrieval.search.scope import Scope
from retrieval.search.settings import SearchSettings, SearchSettingsError
from retrieval.search.spaces import Space, active

logger = logging.getLogger(__name__)

EMBEDDING = f"{TABLE} AS embedding"
# Without an index every vector of the space is compared, up to so many.
EXACT_ROWS = 20_000
# Measures of bits tell little apart: so many times as many are found by them, and compared in full.
BINARY_POOL = 4
MOST_FOUND = 1000
# Neighbours that HNSW keeps in view among 10,000 chunks, and how that grows with their number.
EF_SEARCH = 120
EF_GROWTH = 0.28

# How long the space that was searched last is not looked up again.
KEPT_SECONDS = 1.0

# That space, and until when it is taken for the active one. After that the next question is
# embedded for it while it is looked up.
_last: list[tuple[Space, float]] = []


@dataclass(frozen=True)
class Meaning:
    """A question's vector, shape (dimensions,), and the space it is compared in."""

    vector: Vectors
    space: Space


async def embed(text: str, passages: Sequence[str] = ()) -> Meaning | None:
    """Embed a question; None before anything is embedded. Raises BackendError, DatabaseError.

    With passages that may answer it, the vector lies between the question's and theirs.
    """
    space, vector = await _embed_for_last(text)
    if space is None:
        return None
    if vector is None:
        vector = await _embed_query(space, text)
        _remember(space)
        if space.spec is not None:
            backends.note_searched(space.spec)
    if passages:
        vector = await towards(vector, passages, space.embedder)
    return Meaning(vector, space)


async def _embed_for_last(text: str) -> tuple[Space | None, Vectors | None]:
    """Return the active space, and the question's vector if that is the space searched last."""
    if not _last:
        return await active(), None
    ((last, until),) = _last
    if time.monotonic() < until:
        return last, await _embed_query(last, text)
    space, guess = await asyncio.gather(active(), _embed_query(last, text), return_exceptions=True)
    if isinstance(space, BaseException):
        raise space
    if space is None or (space.id, space.spec) != (last.id, last.spec):
        return space, None
    if isinstance(guess, BaseException):
        raise guess
    _remember(space)
    return space, guess


def _remember(space: Space) -> None:
    _last[:] = [(space, time.monotonic() + KEPT_SECONDS)]


async def _embed_query(space: Space, text: str) -> Vectors:
    return await space.embedder.embed_query(text)


def forget() -> None:
    """Look for the active space before the next question is embedded."""
    _last.clear()


async def towards(vector: Vectors, passages: Sequence[str], embedder: Embedder) -> Vectors:
    """Return the direction between a question's vector and the middle of the passages'.

    The question has as much say as all passages together: a wrong one cannot lead away from it.
    Where they cannot be embedded in REWRITE_TIMEOUT seconds the vector is the question's.
    """
    try:
        async with asyncio.timeout(settings.REWRITE_TIMEOUT):
            found = await embedder.embed_passages(passages)
    except (BackendError, TimeoutError) as error:
        logger.warning("Searched without what was written: %s", error)
        return vector
    mean: Vectors = unit(unit(vector) + unit(np.mean(found, axis=0)))
    return mean


def unit(vector: Vectors) -> Vectors:
    """Return a vector of length 1 in the same direction."""
    return vector / np.float32(max(float(np.linalg.norm(vector)), 1e-9))


def nearest(
    meaning: Meaning,
    scope: Scope,
    limit: int,
    measure: Measure = COSINE,
    *,
    exact: bool = False,
) -> Statement:
    """Return SQL for (id, distance) of the `limit` chunks in scope that are nearest.

    They are compared one by one with `exact`, where few are in scope, or where the index, which
    passes over what is not, gave up before it had found as many. What a measure of bits found is
    compared in full, by the cosine.
    """
    space = meaning.space
    if not measure.binary:
        return _nearest(meaning, scope, limit, measure, exact=exact)
    pool = _nearest(meaning, scope, pool_size(limit, measure), measure, exact=exact)
    return Statement(
        "WITH pool AS MATERIALIZED (SELECT found.id,"
        f" {space.cosine_distance} AS distance FROM ({pool.sql}) AS found"
        f" JOIN {EMBEDDING} ON embedding.chunk_id = found.id AND {space.of_space})"
        f" SELECT id, distance FROM pool ORDER BY distance LIMIT {limit:d}",
        [text_of(meaning.vector), *pool.params],
    )


def _nearest(
    meaning: Meaning, scope: Scope, limit: int, measure: Measure, *, exact: bool
) -> Statement:
    condition, params = scope.condition
    space = meaning.space
    each = (
        f"SELECT chunk.id, {space.distance(measure)} AS distance FROM {scope.searched}"
        f" JOIN {EMBEDDING} ON embedding.chunk_id = chunk.id WHERE {space.of_space} AND {condition}"
    )
    values = [text_of(meaning.vector), *params]
    if exact or scope.few:
        return Statement(
            f"WITH compared AS MATERIALIZED ({each})"
            f" SELECT id, distance FROM compared ORDER BY distance LIMIT {limit:d}",
            values,
        )
    enough = f"(SELECT count(*) = {limit:d} FROM by_index)"
    return Statement(
        f"WITH by_index AS MATERIALIZED ({each} ORDER BY distance LIMIT {limit:d}),"
        f" compared AS MATERIALIZED ({each} AND NOT {enough})"
        f" SELECT id, distance FROM by_index WHERE {enough} UNION ALL"
        f" (SELECT id, distance FROM compared ORDER BY distance LIMIT {limit:d})",
        [*values, *values],
    )


def pool_size(limit: int, measure: Measure) -> int:
    """Return how many chunks are to be found by a measure for the `limit` best of them."""
    return max(limit, min(BINARY_POOL * limit, MOST_FOUND)) if measure.binary else limit


async def must_compare(space: Space, scope: Scope, measure: Measure) -> bool:
    """Whether there is no index for the measure, so that each vector is compared.

    Raises SearchSettingsError where that would take too long, DatabaseError.
    """
    if scope.few:
        return True
    if space.has_index(measure, "hnsw") or space.has_index(measure, "ivfflat"):
        return False
    ((rows,),) = await fetch(
        f"SELECT count(*) FROM (SELECT FROM {EMBEDDING} WHERE {space.of_space}"
        f" LIMIT {EXACT_ROWS + 1}) AS vectors"
    )
    if rows > EXACT_ROWS:
        raise SearchSettingsError("chunk_settings.index_measure", _no_index(space, measure))
    return True


def _no_index(space: Space, measure: Measure) -> str:
    reason = f"there is no index for {measure.name}, and more than {EXACT_ROWS:,} chunks to compare"
    if measure.indexable(space.dimensions):
        return f"{reason}; build it by: manage.py index --measure {measure.name}"
    return (
        f"{reason}; vectors of {space.dimensions:,} dimensions can be indexed for hamming_distance "
        "and jaccard_distance only: manage.py index --measure hamming_distance"
    )


async def configuration(
    settings: SearchSettings, space: Space, measure: Measure = COSINE
) -> dict[str, str]:
    """Return how PostgreSQL is to search a space's index. Raises DatabaseError."""
    asked = settings.chunk_settings
    ef_search = asked.ef_search or ef_search_among(await term_statistics.chunk_count())
    found = pool_size(settings.top_k, measure)
    chosen = {"hnsw.ef_search": str(min(max(ef_search, found), MOST_FOUND))}
    if space.has_index(measure, "ivfflat"):
        chosen["ivfflat.probes"] = str(asked.probes)
        chosen["ivfflat.iterative_scan"] = "relaxed_order"
    return chosen


def ef_search_among(chunks: int) -> int:
    """Return how many neighbours HNSW is to keep in view: one in twenty may be missed.

    As measured among 10,000 and 100,000 chunks, see docs/benchmarks.md.
    """
    return int(EF_SEARCH * math.pow(max(1.0, chunks / 10_000), EF_GROWTH))


def text_of(vector: Vectors) -> str:
    """Return a vector as pgvector reads it."""
    packed = np.ascontiguousarray(vector, np.float32)
    return orjson.dumps(packed, option=orjson.OPT_SERIALIZE_NUMPY).decode()
