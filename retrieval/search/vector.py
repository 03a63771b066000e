"""Search by meaning: the chunks whose vectors are nearest to the question's."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, FloatField, QuerySet
from django.db.models.functions import Cast
from pgvector.django import CosineDistance, HalfVectorField, VectorField

from retrieval import backends
from retrieval.backends.base import Vectors
from retrieval.models import Chunk, EmbeddingSpace
from retrieval.search.scope import Scope
from retrieval.search.settings import SearchSettings

# pgvector's HNSW takes more dimensions than this in half precision only.
VECTOR_MAX_DIMENSIONS = 2000


def space_of(vector: Vectors) -> EmbeddingSpace | None:
    """Return the space of the embedder that made this vector; None before anything is embedded."""
    embedder = backends.embedder()
    return EmbeddingSpace.objects.filter(
        model=embedder.model,
        dimensions=len(vector),
        query_prefix=embedder.query_prefix,
        passage_prefix=embedder.passage_prefix,
    ).first()


def search(vector: Vectors, scope: Scope, settings: SearchSettings) -> dict[UUID, float]:
    """Return the cosine similarities of the `top_k` nearest chunks, by id, best first."""
    space = space_of(vector)
    if space is None:
        return {}
    with transaction.atomic():
        _configure(max(settings.chunk_settings.ef_search, min(settings.top_k, 1000)))
        rows = list(nearest(vector, scope, space)[: settings.top_k])
    # The index's relaxed order may be off by a place.
    return dict(sorted(((id_, 1.0 - far) for id_, far in rows), key=lambda row: -row[1]))


def score(vector: Vectors, chunks: Collection[UUID]) -> dict[UUID, float]:
    """Return the cosine similarities of the given chunks, those that have a vector."""
    space = space_of(vector) if chunks else None
    if space is None:
        return {}
    found = _distances(Chunk.objects.filter(id__in=chunks), vector, space)
    return {id_: 1.0 - far for id_, far in found}


def nearest(vector: Vectors, scope: Scope, space: EmbeddingSpace) -> QuerySet[Chunk, Any]:
    """Return (chunk id, cosine distance) of the chunks in scope, nearest first.

    The expression and the space's id, which psycopg writes into the statement, are those of the
    space's partial index: only so does the planner use it.
    """
    return _distances(scope.chunks(), vector, space).order_by(F("distance"))


def _distances(
    chunks: QuerySet[Chunk], vector: Vectors, space: EmbeddingSpace
) -> QuerySet[Chunk, Any]:
    if space.dimensions > VECTOR_MAX_DIMENSIONS:
        field: HalfVectorField | VectorField = HalfVectorField(dimensions=space.dimensions)
    else:
        field = VectorField(dimensions=space.dimensions)
    stored = Cast(F("embeddings__embedding"), field)
    return (
        chunks.filter(embeddings__space=space.pk)
        .annotate(distance=Cast(CosineDistance(stored, vector), FloatField()))
        .values_list("id", "distance")
    )


def _configure(ef_search: int) -> None:
    """Set how the index is searched until the transaction ends: connections are pooled."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('hnsw.ef_search', %s, true),"
            " set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            [str(ef_search)],
        )
