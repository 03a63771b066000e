"""Vectors of chunks that did not change: copied from the document's earlier versions."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import connection, transaction

from retrieval.ingestion import spaces
from retrieval.ingestion.embedding import digest, text_of
from retrieval.models import Chunk, ChunkEmbedding, DocumentVersion, EmbeddingSpace

COPY = """
WITH known AS (
    SELECT DISTINCT ON (vector.digest) vector.digest, vector.embedding
    FROM retrieval_documentversion AS version
    JOIN retrieval_chunk AS chunk ON chunk.version_id = version.id
    JOIN retrieval_chunkembedding AS vector ON vector.chunk_id = chunk.id
    WHERE version.document_id = %(document)s AND version.id <> %(version)s
        AND vector.space_id = %(space)s
), alive AS (
    SELECT FROM retrieval_document
    WHERE id = %(document)s AND deleted_at IS NULL
    FOR KEY SHARE
)
INSERT INTO retrieval_chunkembedding (chunk_id, space_id, embedding, digest)
SELECT wanted.chunk, %(space)s, known.embedding, known.digest
FROM unnest(%(chunks)s::uuid[], %(digests)s::uuid[]) AS wanted (chunk, digest)
JOIN known USING (digest)
CROSS JOIN alive
ON CONFLICT DO NOTHING
"""


def copy_known(version: DocumentVersion, space: EmbeddingSpace) -> int:
    """Give chunks the vector that the same title, headings and text have in an earlier version.

    Nothing is asked of the provider. Return how many were copied.
    """
    earlier = ChunkEmbedding.objects.filter(
        chunk__version__document=version.document_id, space=space
    ).exclude(chunk__version=version)
    if not earlier.exists():
        return 0
    wanted = _wanted(version, space)
    values: dict[str, Any] = {
        "document": version.document_id, "version": version.pk, "space": space.pk,
        "chunks": list(wanted), "digests": list(wanted.values()),
    }  # fmt: skip
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(COPY, values)
        copied: int = cursor.rowcount
    return copied


def _wanted(version: DocumentVersion, space: EmbeddingSpace) -> dict[uuid.UUID, uuid.UUID]:
    """Return the digest of each chunk that has no vector."""
    missing = spaces.missing(Chunk.objects.filter(version=version), space)
    chunks = missing.select_related("version__document").only(
        "text", "heading_path", "version__title", "version__document__title"
    )
    return {chunk.pk: digest(text_of(chunk)) for chunk in chunks.iterator(chunk_size=500)}
