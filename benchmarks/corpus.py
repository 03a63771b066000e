"""Documents with the fake provider's embeddings, for the site and for the baseline alike."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from psycopg import sql

from chat.models import Assistant
from retrieval.ingestion.indexes import build_index
from retrieval.ingestion.spaces import current_space
from retrieval.models import (
    Chunk,
    ChunkEmbedding,
    Collection,
    Document,
    DocumentVersion,
    EmbeddingSpace,
    Stage,
)
from retrieval.text.fulltext import document_vector

CHUNKS_A_DOCUMENT = 100
WORDS_A_CHUNK = 150
DIMENSIONS = 384
BASELINE = "baseline"
# What the load tool asks for: the name says how the fake provider answers.
MODELS = [
    "fake-n20-d5-f100",
    "fake-n200-d20-f100",
    "fake-n500-d0-f50",
    "fake-n1000-d10-f100",
    "fake-n5000-d0-f50",
]


@dataclass(frozen=True)
class Loaded:
    """What the clients need: a session of the site, the baseline's database, and a question."""

    session: str
    baseline: str
    question: str


def load(chunks: int) -> Loaded:
    """Fill the site's empty database and the baseline's with the same chunks."""
    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    corpus = importlib.import_module("common").Corpus()
    embed = importlib.import_module("fake_llm").HashEmbedder(DIMENSIONS)
    texts = [corpus.text(number, WORDS_A_CHUNK) for number in range(chunks)]
    vectors = [embed(text) for text in texts]
    space = current_space()
    collection = Collection.objects.create(name="Corpus")
    for start in range(0, chunks, CHUNKS_A_DOCUMENT):
        part = slice(start, start + CHUNKS_A_DOCUMENT)
        load_document(collection, space, f"Report {start}", texts[part], vectors[part])
    build_index(space)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")  # as autovacuum does within a minute or two
    Assistant.objects.create(name="Benchmark", is_default=True, allowed_models=MODELS)
    client = Client()
    client.force_login(User.objects.create_user("reader"))
    return Loaded(
        session=client.cookies["sessionid"].value,
        baseline=load_baseline(texts, vectors),
        question=corpus.query(3),
    )


def load_document(  # noqa: PLR0913, PLR0917 - all that a document has
    collection: Collection,
    space: EmbeddingSpace,
    title: str,
    texts: list[str],
    vectors: list[np.ndarray[Any, Any]],
    metadata: dict[str, Any] | None = None,
) -> None:
    """Store one document as ingestion leaves it, ready to be searched."""
    document = Document.objects.create(
        collection=collection, name=f"{title}.txt", title=title, metadata=metadata or {}
    )
    version = DocumentVersion.objects.create(
        document=document,
        number=1,
        sha256="",
        size=0,
        language="en",
        text="\n\n".join(texts),
        chunk_count=len(texts),
        embedded_count=len(texts),
        stage=Stage.READY,
    )
    chunks, position = [], 0
    for ordinal, text in enumerate(texts):
        fulltext = document_vector(text, title=title, language="en")
        span = {"char_start": position, "char_end": position + len(text)}
        chunks.append(Chunk(version=version, ordinal=ordinal, text=text, fulltext=fulltext, **span))
        position += len(text) + 2
    Chunk.objects.bulk_create(chunks)
    ChunkEmbedding.objects.bulk_create(
        ChunkEmbedding(chunk=chunk, space=space, embedding=vector)
        for chunk, vector in zip(chunks, vectors, strict=True)
    )
    Document.objects.filter(pk=document.pk).update(current_version=version)


def load_baseline(texts: list[str], vectors: list[np.ndarray[Any, Any]]) -> str:
    """Fill the baseline's table, in a database of its own; return that database's URI."""
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(BASELINE)))
    own = connection.settings_dict
    uri = psycopg.conninfo.make_conninfo(
        host=own["HOST"],
        port=own["PORT"],
        user=own["USER"],
        password=own["PASSWORD"],
        dbname=BASELINE,
    )
    with psycopg.connect(uri) as database:
        database.execute("CREATE EXTENSION vector")
        database.execute(
            "CREATE TABLE blog_chunk"
            f"(id bigserial PRIMARY KEY, name text, body text, embedding vector({DIMENSIONS}))"
        )
        with database.cursor().copy("COPY blog_chunk(name, body, embedding) FROM STDIN") as copy:
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
                copy.write_row((f"Report {number}", text, str(vector.tolist())))
        database.execute(
            "CREATE INDEX blog_chunk_hnsw ON blog_chunk USING hnsw (embedding vector_cosine_ops)"
        )
    with psycopg.connect(uri, autocommit=True) as database:
        database.execute("VACUUM (ANALYZE)")
    return uri
