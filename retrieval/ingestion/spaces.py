"""Embedding spaces: the one of the configured model, and each one's vector index."""

from __future__ import annotations

from django.db import connection
from psycopg import sql

from retrieval import backends
from retrieval.models import EmbeddingSpace

# pgvector indexes `vector` up to 2,000 dimensions, `halfvec` up to 4,000.
VECTOR_DIMENSIONS = 2000
INDEXED_DIMENSIONS = 4000


def current_space() -> EmbeddingSpace:
    """Return the space of the configured embedder, making it on first use."""
    embedder = backends.embedder()
    space, _ = EmbeddingSpace.objects.get_or_create(
        model=embedder.model,
        dimensions=embedder.dimensions,
        query_prefix=embedder.query_prefix,
        passage_prefix=embedder.passage_prefix,
    )
    return space


def index_name(space: EmbeddingSpace) -> str:
    """Return the name of the space's vector index."""
    return f"embedding_space_{space.pk}_hnsw"


def build_index(space: EmbeddingSpace) -> None:
    """Build the space's HNSW index without locking the table; does nothing if it is there.

    Must not run inside a transaction. A space of too many dimensions is left without one.
    """
    if space.dimensions > INDEXED_DIMENSIONS:
        return
    kind = "vector" if space.dimensions <= VECTOR_DIMENSIONS else "halfvec"
    name = sql.Identifier(index_name(space))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)",
            [index_name(space)],
        )
        row = cursor.fetchone()
        if row is not None and not row[0]:
            # A build that was interrupted leaves an index that is kept up but never used.
            cursor.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(name))
        if row is None or not row[0]:
            cursor.execute(
                sql.SQL(
                    "CREATE INDEX CONCURRENTLY {} ON retrieval_chunkembedding"
                    " USING hnsw ((embedding::{}({})) {}) WITH (m = 16, ef_construction = 64)"
                    " WHERE space_id = {}"
                ).format(
                    name,
                    sql.SQL(kind),
                    sql.Literal(space.dimensions),
                    sql.SQL(f"{kind}_cosine_ops"),
                    sql.Literal(space.pk),
                )
            )
    EmbeddingSpace.objects.filter(pk=space.pk).update(indexed=True)
