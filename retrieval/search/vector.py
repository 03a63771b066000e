"""Search by meaning: the chunks whose vectors are nearest to the question's, as SQL."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings

from retrieval import backends
from retrieval.backends.base import BackendError, Embedder, Vectors
from retrieval.connections import CONFIGURATION
from retrieval.database import Statement, fetch
from retrieval.search.scope import SEARCHED, Scope
from retrieval.search.settings import SearchSettings

logger = logging.getLogger(__name__)

# pgvector's HNSW takes more dimensions than this in half precision only.
VECTOR_MAX_DIMENSIONS = 2000

EMBEDDING = "retrieval_chunkembedding AS embedding"


@dataclass(frozen=True)
class Space:
    """The embedding space a question is compared in: that of the configured embedder."""

    id: int
    dimensions: int

    @property
    def distance(self) -> str:
        """The cosine distance of `embedding` to a parameter.

        The expression, and the space's id in `of_space`, are those of the space's partial index:
        only so does the planner use it.
        """
        kind = "halfvec" if self.dimensions > VECTOR_MAX_DIMENSIONS else "vector"
        kind = f"{kind}({self.dimensions})"
        return f"(embedding.embedding::{kind} <=> %s::{kind})"

    @property
    def of_space(self) -> str:
        """The condition that `embedding` is of this space."""
        return f"embedding.space_id = {self.id:d}"


@dataclass(frozen=True)
class Meaning:
    """A question's vector, shape (dimensions,), and the space it is compared in."""

    vector: Vectors
    space: Space


async def embed(text: str, passages: Sequence[str] = ()) -> Meaning | None:
    """Embed a question; None before anything is embedded. Raises BackendError, DatabaseError.

    With passages that may answer it, the vector lies between the question's and theirs.
    """
    embedder = backends.embedder()
    if embedder.dimensions:
        space, vector = await asyncio.gather(
            space_of(embedder, embedder.dimensions), embedder.embed_query(text)
        )
    else:  # a model whose size is learnt from its first answer
        vector = await embedder.embed_query(text)
        space = await space_of(embedder, len(vector))
    if space and passages:
        vector = await towards(vector, passages, embedder)
    return Meaning(vector, space) if space else None


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


async def space_of(embedder: Embedder, dimensions: int) -> Space | None:
    """Return an embedder's space; None before anything is embedded."""
    rows = await fetch(
        "SELECT id FROM retrieval_embeddingspace"
        " WHERE model = %s AND dimensions = %s AND query_prefix = %s AND passage_prefix = %s",
        [embedder.model, dimensions, embedder.query_prefix, embedder.passage_prefix],
    )
    return Space(rows[0][0], dimensions) if rows else None


def nearest(meaning: Meaning, scope: Scope, limit: int) -> Statement:
    """Return SQL for (id, distance) of the `limit` chunks in scope that are nearest.

    They are compared one by one where few are in scope, or where the index, which passes over
    what is not, gave up before it had found as many.
    """
    condition, params = scope.condition
    space = meaning.space
    each = (
        f"SELECT chunk.id, {space.distance} AS distance FROM {SEARCHED}"
        f" JOIN {EMBEDDING} ON embedding.chunk_id = chunk.id WHERE {space.of_space} AND {condition}"
    )
    values = [text_of(meaning.vector), *params]
    if scope.few:
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


def configuration(settings: SearchSettings) -> dict[str, str]:
    """Return how the index is to be searched, where connections are not set to that anyway."""
    ef_search = str(max(settings.chunk_settings.ef_search, min(settings.top_k, 1000)))
    return {} if CONFIGURATION["hnsw.ef_search"] == ef_search else {"hnsw.ef_search": ef_search}


def text_of(vector: Vectors) -> str:
    """Return a vector as pgvector reads it."""
    return f"[{','.join(map(str, vector.tolist()))}]"
