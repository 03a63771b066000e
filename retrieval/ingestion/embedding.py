"""Embedding chunks that have no vector yet in a space: batches of tokens, several at a time."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction

from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.ingestion import spaces
from retrieval.ingestion.chunking import embedded_text
from retrieval.models import Chunk, ChunkEmbedding, ChunkQuerySet, EmbeddingSpace

# Chunks read at a time.
PAGE = 256
# Held while vectors are written: whoever deletes the documents waits, or they find them gone.
ALIVE = """
SELECT chunk.id FROM retrieval_chunk AS chunk
JOIN retrieval_documentversion AS version ON version.id = chunk.version_id
JOIN retrieval_document AS document ON document.id = version.document_id
WHERE chunk.id = ANY(%s) AND document.deleted_at IS NULL
FOR KEY SHARE OF document
"""


class Embedded(NamedTuple):
    """What a batch came to."""

    chunks: int
    tokens: int


@dataclass(frozen=True)
class Passage:
    """A chunk as it is embedded."""

    chunk: uuid.UUID
    text: str
    tokens: int


Position = tuple[uuid.UUID, int]
Batch = list[Passage]


async def embed_missing(
    chunks: ChunkQuerySet,
    space: EmbeddingSpace,
    *,
    stored: Callable[[Embedded], None] = lambda _: None,
    heard: Callable[[], None] = lambda: None,
    go_on: Callable[[], bool] = lambda: True,
) -> bool:
    """Embed those of `chunks` that have no vector in `space`, in order; safe to be repeated.

    `stored` gets what each batch came to, in the transaction that stores it; then `heard` is
    called. Before each, `go_on` says whether there is time for it. Return whether all were
    embedded. Raises BackendError.
    """
    complete = True
    running: set[asyncio.Task[None]] = set()
    try:
        async for batch in _batches(chunks, space):
            if len(running) == settings.EMBEDDING_REQUESTS_IN_FLIGHT:
                await _some(running, heard)
            complete = await in_thread(go_on)
            if not complete:
                break
            running.add(asyncio.create_task(_embed(batch, space, stored), name="embed"))
        while running:
            await _some(running, heard)
    except BackendError:
        # What the provider is at already is not asked for again.
        await asyncio.gather(*running, return_exceptions=True)
        raise
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return complete


async def _some(running: set[asyncio.Task[None]], heard: Callable[[], None]) -> None:
    """Wait for one batch or more, and take them out of those that run."""
    done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    running -= done
    for task in done:
        task.result()
        heard()


async def _embed(batch: Batch, space: EmbeddingSpace, stored: Callable[[Embedded], None]) -> None:
    vectors = await spaces.embedder_of(space).embed_passages([each.text for each in batch])
    rows = [
        ChunkEmbedding(chunk_id=each.chunk, space=space, embedding=vector, digest=digest(each.text))
        for each, vector in zip(batch, vectors, strict=True)
    ]
    done = Embedded(len(batch), sum(each.tokens for each in batch))
    await in_thread(_store, rows, done, stored)


async def _batches(chunks: ChunkQuerySet, space: EmbeddingSpace) -> AsyncIterator[Batch]:
    """Yield what is missing in batches of EMBEDDING_BATCH_TOKENS, reading a page at a time."""
    limit = settings.EMBEDDING_BATCH_TOKENS
    batch: Batch = []
    tokens = 0
    position: Position | None = None
    while True:
        page, position = await in_thread(_page, chunks, space, position)
        for passage in page:
            if batch and tokens + passage.tokens > limit:
                yield batch
                batch, tokens = [], 0
            batch.append(passage)
            tokens += passage.tokens
        if position is None:
            break
    if batch:
        yield batch


def _page(
    chunks: ChunkQuerySet, space: EmbeddingSpace, after: Position | None
) -> tuple[Batch, Position | None]:
    """Return the next passages without a vector, and where they end if there may be more."""
    missing = spaces.missing(chunks, space).select_related("version__document")
    if after is not None:
        version, ordinal = after
        later = missing.filter(version__gte=version)
        missing = later.exclude(version=version, ordinal__lte=ordinal)
    missing = missing.only(
        "version", "ordinal", "text", "heading_path", "version__title", "version__document__title"
    )
    count_tokens = spaces.embedder_of(space).count_tokens
    found = list(missing.order_by("version", "ordinal")[:PAGE])
    page = [
        Passage(chunk.pk, text, count_tokens(text)) for chunk in found for text in [text_of(chunk)]
    ]
    if len(found) < PAGE:
        return page, None
    return page, (found[-1].version_id, found[-1].ordinal)


def text_of(chunk: Chunk) -> str:
    """Return what is embedded of a chunk."""
    title = chunk.version.title or chunk.version.document.title
    return embedded_text(title, chunk.heading_path, chunk.text)


def digest(text: str) -> uuid.UUID:
    """Return what tells whether two texts, as embedded, are the same."""
    return uuid.UUID(bytes=hashlib.blake2b(text.encode(), digest_size=16).digest())


def _store(rows: list[ChunkEmbedding], done: Embedded, stored: Callable[[Embedded], None]) -> None:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(ALIVE, [[row.chunk_id for row in rows]])
            alive = {chunk for (chunk,) in cursor.fetchall()}
        ChunkEmbedding.objects.bulk_create(
            [row for row in rows if row.chunk_id in alive], ignore_conflicts=True
        )
        stored(done)
