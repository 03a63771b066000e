"""Documents to search in, and the word embedder as the configured one."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from retrieval.models import (
    Chunk,
    ChunkEmbedding,
    Collection,
    Document,
    DocumentVersion,
    EmbeddingSpace,
    SpaceState,
    Stage,
)
from retrieval.search import Hit, Scope, term_statistics, vector
from retrieval.search import scope as scope_module
from retrieval.search.hits import Place
from retrieval.text import fulltext
from tests.fakes import HashEmbedder


class AddDocument(Protocol):
    def __call__(
        self,
        *texts: str,
        title: str = "",
        language: str = "en",
        collection: Collection | None = None,
    ) -> Document: ...


def make_hit(
    text: str, title: str = "", heading_path: tuple[str, ...] = (), **scores: float
) -> Hit:
    """Return a hit of a document of its own."""
    return Hit(uuid4(), text, heading_path, None, "en", uuid4(), title, scores)


def make_chunk(version: UUID, ordinal: int, start: int, text: str, **scores: float) -> Hit:
    """Return a hit that stands at a place of a document's version."""
    place = Place(version, ordinal, start, start + len(text))
    return replace(make_hit(text), scores=scores, document_id=version, place=place)


@pytest.fixture(autouse=True)
def _fresh_statistics() -> None:
    term_statistics.forget()
    scope_module.forget()
    vector.forget()


@pytest.fixture
def embedder(settings: Settings) -> HashEmbedder:
    """Make the word embedder the configured one, without a reranker."""
    path = "tests.fakes.HashEmbedder"
    settings.RAG_BACKENDS = {
        **settings.RAG_BACKENDS,
        "embedder": {"BACKEND": path},
        "reranker": {"BACKEND": None},
    }
    return HashEmbedder()


@pytest.fixture
def collection(db: None) -> Collection:
    return Collection.objects.create(name="Manuals")


@pytest.fixture
def scope(db: None) -> Scope:
    return Scope(User.objects.create_user("reader"))


@pytest.fixture
def add_document(collection: Collection, embedder: HashEmbedder) -> AddDocument:
    """Return a function that adds a document of chunks, as ingestion does."""
    default = collection

    def add(
        *texts: str,
        title: str = "",
        language: str = "en",
        collection: Collection | None = None,
    ) -> Document:
        count = Document.objects.count()
        document = Document.objects.create(
            collection=collection or default, name=f"{count}.txt", title=title
        )
        add_version(document, texts, embedder, language)
        return document

    return add


def add_version(
    document: Document, texts: tuple[str, ...], embedder: HashEmbedder, language: str = "en"
) -> DocumentVersion:
    """Add a version and make it the current one."""
    version = DocumentVersion.objects.create(
        document=document,
        number=document.versions.count() + 1,
        sha256="",
        size=0,
        language=language,
        text="\n".join(texts),
        stage=Stage.READY,
    )
    document.current_version = version
    document.save()
    space, _ = EmbeddingSpace.objects.get_or_create(
        model=embedder.model,
        dimensions=embedder.dimensions,
        defaults={"backend": "tests.fakes.HashEmbedder", "state": SpaceState.ACTIVE},
    )
    chunks = Chunk.objects.bulk_create(
        Chunk(
            version=version,
            ordinal=ordinal,
            text=text,
            char_start=0,
            char_end=len(text),
            fulltext=fulltext.document_vector(text, title=document.title, language=language),
        )
        for ordinal, text in enumerate(texts)
    )
    ChunkEmbedding.objects.bulk_create(
        ChunkEmbedding(chunk=chunk, space=space, embedding=embedder.embed(chunk.text))
        for chunk in chunks
    )
    return version
