"""Vector search on PostgreSQL."""

from __future__ import annotations

import pytest
from django.db import connection

from retrieval.database import fetch, in_thread
from retrieval.models import Chunk, ChunkEmbedding, EmbeddingSpace
from retrieval.search import Scope, SearchSettings, candidates, vector
from retrieval.search.hits import Hit
from retrieval.search.spaces import active
from retrieval.search.vector import Meaning, Space
from tests.fakes import HashEmbedder
from tests.retrieval.search.conftest import AddDocument

pytestmark = pytest.mark.django_db(transaction=True)


def build_index(space: EmbeddingSpace, kind: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE INDEX space_index ON retrieval_chunkembedding USING hnsw"
            f" ((embedding::{kind}({space.dimensions})) {kind}_cosine_ops)"
            f" WHERE space_id = {space.pk}"
        )


def drop_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX space_index")


async def plan(embedder: HashEmbedder, scope: Scope, space: EmbeddingSpace) -> str:
    meaning = Meaning(embedder.embed("valves"), Space(space.pk, space.dimensions))
    sql, params = vector.nearest(meaning, scope, 3)
    # A few rows are read faster one by one; the question is whether the index can be used.
    off = {"enable_seqscan": "off", "enable_sort": "off"}
    return str(await fetch(f"EXPLAIN {sql}", params, off))


async def find(
    text: str, scope: Scope, embedder: HashEmbedder, settings: SearchSettings | None = None
) -> list[Hit]:
    """Return what is near the text, nearest first."""
    space = await in_thread(EmbeddingSpace.objects.get)
    meaning = Meaning(embedder.embed(text), Space(space.pk, space.dimensions))
    found = await candidates.load(scope, settings or SearchSettings(), meaning, None)
    return sorted(found, key=lambda hit: -hit.scores["vector"])


@pytest.mark.parametrize(("dimensions", "kind"), [(256, "vector"), (2100, "halfvec")])
async def test_index_of_the_space_is_used(
    dimensions: int, kind: str, add_document: AddDocument, scope: Scope
) -> None:
    """The planner sees that the query is what the space's partial index holds."""
    embedder = HashEmbedder(dimensions)

    def prepare() -> EmbeddingSpace:
        document = add_document("Pumps need oil.")
        space = EmbeddingSpace.objects.create(model="wide words", dimensions=dimensions)
        version = document.versions.get()
        chunks = Chunk.objects.bulk_create(
            Chunk(version=version, ordinal=n, text="", char_start=0, char_end=0)
            for n in range(1, 200)
        )
        ChunkEmbedding.objects.bulk_create(
            ChunkEmbedding(chunk=chunk, space=space, embedding=embedder.embed(f"valve {n}"))
            for n, chunk in enumerate(chunks)
        )
        build_index(space, kind)
        return space

    space = await in_thread(prepare)
    try:
        assert "space_index" in await plan(embedder, scope, space)
    finally:
        await in_thread(drop_index)


async def test_another_space_does_not_use_the_index(
    add_document: AddDocument, scope: Scope, embedder: HashEmbedder
) -> None:
    """An index belongs to one space."""

    def prepare() -> EmbeddingSpace:
        add_document("Pumps need oil.", "Valves are made of brass.")
        build_index(EmbeddingSpace.objects.get(), "vector")
        return EmbeddingSpace.objects.create(model="other", dimensions=256)

    other = await in_thread(prepare)
    try:
        assert "space_index" not in await plan(embedder, scope, other)
    finally:
        await in_thread(drop_index)


async def test_each_search_sets_its_index_anew(add_document: AddDocument) -> None:
    """Connections are kept: what one search sets must not reach the next user's."""
    await in_thread(add_document, "Pumps need oil.")
    space = await active()
    assert space is not None
    show = "SELECT current_setting('hnsw.ef_search')"
    for asked, found in (({"ef_search": 300}, "300"), ({}, "120"), ({"ef_search": 60}, "60")):
        settings = SearchSettings.parse({"chunk_settings": asked})
        assert await fetch(show, (), await vector.configuration(settings, space)) == [(found,)]


@pytest.mark.parametrize(("chunks", "expected"), [(0, 120), (10_000, 120), (100_000, 228)])
def test_more_chunks_are_looked_through_further(chunks: int, expected: int) -> None:
    assert vector.ef_search_among(chunks) == expected


async def test_similarity_is_the_cosine(
    add_document: AddDocument, scope: Scope, embedder: HashEmbedder
) -> None:
    """The score is 1 for the same text, and lower for another."""
    await in_thread(add_document, "Pumps need oil.", "Valves are made of brass.")
    first, second = await find("Valves are made of brass.", scope, embedder)
    assert first.scores == {"vector": pytest.approx(1.0, abs=1e-5)}
    expected = embedder.embed("Pumps need oil.") @ embedder.embed("Valves are made of brass.")
    assert second.scores == {"vector": pytest.approx(float(expected), abs=1e-5)}


async def test_no_more_than_asked_for_are_near(
    add_document: AddDocument, scope: Scope, embedder: HashEmbedder
) -> None:
    """`top_k` chunks are returned, the nearest."""
    await in_thread(add_document, "Pumps need oil.", "Valves are made of brass.")
    (hit,) = await find("valves", scope, embedder, SearchSettings(top_k=1))
    assert hit.text == "Valves are made of brass."
