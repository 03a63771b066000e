"""Vector search on PostgreSQL."""

from __future__ import annotations

import pytest
from django.db import connection
from pytest_django import Settings

from retrieval.models import Chunk, ChunkEmbedding, EmbeddingSpace
from retrieval.search import Scope, SearchSettings, vector
from tests.fakes import HashEmbedder
from tests.retrieval.search.conftest import AddDocument


def build_index(space: EmbeddingSpace, kind: str) -> None:
    with connection.cursor() as cursor:
        # The rows of this transaction have foreign keys yet to be checked.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(
            f"CREATE INDEX space_index ON retrieval_chunkembedding USING hnsw"
            f" ((embedding::{kind}({space.dimensions})) {kind}_cosine_ops)"
            f" WHERE space_id = {space.pk}"
        )


def plan(embedder: HashEmbedder, scope: Scope, space: EmbeddingSpace) -> str:
    with connection.cursor() as cursor:
        # A few rows are read faster one by one; the question is whether the index can be used.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    return vector.nearest(embedder.embed("valves"), scope, space)[:3].explain()


@pytest.mark.parametrize(("dimensions", "kind"), [(256, "vector"), (2100, "halfvec")])
def test_index_of_the_space_is_used(
    dimensions: int, kind: str, add_document: AddDocument, scope: Scope, settings: Settings
) -> None:
    """The planner sees that the query is what the space's partial index holds."""
    embedder = HashEmbedder(dimensions)
    document = add_document("Pumps need oil.")
    space = EmbeddingSpace.objects.create(model="wide words", dimensions=dimensions)
    version = document.versions.get()
    chunks = Chunk.objects.bulk_create(
        Chunk(version=version, ordinal=n, text="", char_start=0, char_end=0) for n in range(1, 200)
    )
    ChunkEmbedding.objects.bulk_create(
        ChunkEmbedding(chunk=chunk, space=space, embedding=embedder.embed(f"valve {n}"))
        for n, chunk in enumerate(chunks)
    )
    build_index(space, kind)
    assert "space_index" in plan(embedder, scope, space)


def test_another_space_does_not_use_the_index(
    add_document: AddDocument, scope: Scope, embedder: HashEmbedder
) -> None:
    """An index belongs to one space."""
    add_document("Pumps need oil.", "Valves are made of brass.")
    build_index(EmbeddingSpace.objects.get(), "vector")
    other = EmbeddingSpace.objects.create(model="other", dimensions=256)
    assert "space_index" not in plan(embedder, scope, other)


@pytest.mark.django_db(transaction=True)
def test_settings_of_the_index_end_with_the_search(
    add_document: AddDocument, scope: Scope, embedder: HashEmbedder
) -> None:
    """Connections are pooled: what one search sets must not reach the next user's."""
    add_document("Pumps need oil.")
    settings = SearchSettings.parse({"chunk_settings": {"ef_search": 300}})
    with connection.cursor() as cursor:
        cursor.execute("SELECT '[1]'::vector, set_config('hnsw.ef_search', '77', false)")
        vector.search(embedder.embed("pumps"), scope, settings)
        cursor.execute("SHOW hnsw.ef_search")
        assert cursor.fetchone() == ("77",)
        cursor.execute("RESET hnsw.ef_search")


def test_similarity_is_the_cosine(
    add_document: AddDocument, scope: Scope, embedder: HashEmbedder
) -> None:
    """The score is 1 for the same text, and lower for another, best first."""
    add_document("Pumps need oil.", "Valves are made of brass.")
    found = vector.search(embedder.embed("Valves are made of brass."), scope, SearchSettings())
    first, second = found.values()
    assert first == pytest.approx(1.0, abs=1e-5)
    expected = embedder.embed("Pumps need oil.") @ embedder.embed("Valves are made of brass.")
    assert second == pytest.approx(float(expected), abs=1e-5)


def test_given_chunks_are_scored(
    add_document: AddDocument, scope: Scope, embedder: HashEmbedder
) -> None:
    """Chunks that another search found get the score that this one would have given them."""
    add_document("Pumps need oil.", "Valves are made of brass.")
    question = embedder.embed("valves")
    found = vector.search(question, scope, SearchSettings())
    assert vector.score(question, list(found)) == pytest.approx(found)
    assert vector.score(question, []) == {}
