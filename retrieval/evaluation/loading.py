"""Loading a set as if its documents had been uploaded, in bulk."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from asgiref.sync import async_to_sync
from django.db import connection
from django.utils import timezone

from retrieval import backends
from retrieval.evaluation.datasets import Dataset, SetDocument
from retrieval.ingestion.chunking import embedded_text
from retrieval.ingestion.indexes import build_index
from retrieval.ingestion.pipeline import chunks_of
from retrieval.ingestion.reading import read
from retrieval.ingestion.spaces import current_space
from retrieval.models import Chunk, ChunkEmbedding, Collection, Document, DocumentVersion, Stage
from retrieval.text.language import normalise

BATCH = 256
TABLES = "retrieval_document, retrieval_documentversion, retrieval_chunk, retrieval_chunkembedding"

Progress = Callable[[str], None]


def load_set(dataset: Dataset, progress: Progress) -> None:
    """Chunk, embed and index a set's documents; each is named by its id in the set.

    Raises BackendError.
    """
    collection = Collection.objects.create(name=dataset.name[:200])
    documents = iter(dataset.documents)
    done = 0
    while batch := list(islice(documents, BATCH)):
        versions = [_version(collection, each) for each in batch]
        Document.objects.bulk_create(version.document for version in versions)
        DocumentVersion.objects.bulk_create(versions)
        for version in versions:
            version.document.current_version = version
        Document.objects.bulk_update(
            [version.document for version in versions], ["current_version"]
        )
        _load_chunks(versions)
        done += len(batch)
        progress(f"{dataset.name}: {done} of {len(dataset.documents)} documents")
    build_index(current_space())
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (ANALYZE) {TABLES}")  # as autovacuum does within a minute or two


def _version(collection: Collection, document: SetDocument) -> DocumentVersion:
    extracted = read(document.text.encode(), "document.txt")
    title = document.title[:500]
    return DocumentVersion(
        document=Document(collection=collection, name=document.id[:255], title=title),
        number=1,
        sha256="",
        size=0,
        title=title,
        text=extracted["text"],
        media_type=extracted["media_type"],
        language=normalise(extracted["language"]),
        stage=Stage.READY,
        finished_at=timezone.now(),
    )


def _load_chunks(versions: list[DocumentVersion]) -> None:
    """Write the chunks of some versions with their embeddings."""
    found = ((chunk, version.title) for version in versions for chunk in chunks_of(version))
    while batch := list(islice(found, BATCH)):
        Chunk.objects.bulk_create(chunk for chunk, _ in batch)
        texts = [embedded_text(title, chunk.heading_path, chunk.text) for chunk, title in batch]
        vectors = async_to_sync(backends.embedder().embed_passages)(texts)
        space = current_space()
        ChunkEmbedding.objects.bulk_create(
            ChunkEmbedding(chunk=chunk, space=space, embedding=vector)
            for (chunk, _), vector in zip(batch, vectors, strict=True)
        )
