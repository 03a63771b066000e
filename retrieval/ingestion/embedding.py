"""Embedding chunks that have no vector yet in a space, batch by batch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from django.db import transaction

from retrieval.database import in_thread
from retrieval.ingestion import spaces
from retrieval.ingestion.chunking import embedded_text
from retrieval.models import Chunk, ChunkEmbedding, ChunkQuerySet, EmbeddingSpace

BATCH = 32


async def embed_missing(
    chunks: ChunkQuerySet,
    space: EmbeddingSpace,
    progress: Callable[[int], Awaitable[None]],
    *,
    go_on: Callable[[], bool] = lambda: True,
) -> bool:
    """Embed those of `chunks` that have no vector in `space`, in order; safe to be repeated.

    `progress` gets the number of chunks embedded by each batch; before each, `go_on` says whether
    there is time for it. Return whether none is left. Raises BackendError.
    """
    while batch := await in_thread(_next_batch, chunks, space):
        if not await in_thread(go_on):
            return False
        texts = [embedded_text(title, chunk.heading_path, chunk.text) for chunk, title in batch]
        vectors = await spaces.embedder_of(space).embed_passages(texts)
        rows = [
            ChunkEmbedding(chunk=chunk, space=space, embedding=vector)
            for (chunk, _), vector in zip(batch, vectors, strict=True)
        ]
        await in_thread(_store, rows)
        await progress(len(rows))
    return True


def _next_batch(chunks: ChunkQuerySet, space: EmbeddingSpace) -> list[tuple[Chunk, str]]:
    """Return the next chunks without a vector, each with its document's title."""
    missing = spaces.missing(chunks, space).select_related("version__document")
    missing = missing.defer("fulltext", "version__text").order_by("version", "ordinal")
    return [
        (chunk, chunk.version.title or chunk.version.document.title) for chunk in missing[:BATCH]
    ]


def _store(rows: list[ChunkEmbedding]) -> None:
    with transaction.atomic():
        # Whoever deletes a document waits until these are in, or they find their chunks gone.
        alive = set(
            Chunk.objects.select_for_update(of=("self",), no_key=True)
            .filter(pk__in=[row.chunk_id for row in rows])
            .order_by("pk")
            .values_list("pk", flat=True)
        )
        ChunkEmbedding.objects.bulk_create(
            [row for row in rows if row.chunk_id in alive], ignore_conflicts=True
        )
