"""Narrow scopes among many chunks: vectors and words are made by PostgreSQL, at random."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from retrieval.backends.base import Vectors
from retrieval.connections import Connection, connect
from retrieval.database import fetch, in_thread
from retrieval.models import Collection, EmbeddingSpace, Visibility
from retrieval.search import Scope, SearchSettings, analyse, retrieve, vector
from retrieval.search import scope as scope_module
from retrieval.search.scope import FEW_CHUNKS, narrow
from retrieval.search.vector import Meaning, Space
from tests.retrieval.search.conftest import AddDocument

pytestmark = pytest.mark.django_db(transaction=True)

DIMENSIONS = 16
DOCUMENTS = 2000
CHUNKS_EACH = 10
# The share of documents that each kind has: 0.1 %, 2 % and 30 % of all chunks.
KINDS = "CASE WHEN n <= 2 THEN 'rare' WHEN n <= 42 THEN 'some' WHEN n <= 642 THEN 'many' END"
FILL = f"""
INSERT INTO retrieval_document (id, collection_id, name, title, enabled, metadata, created_at)
  SELECT md5('d' || n)::uuid, %(collection)s, n, n, true, jsonb_build_object('kind', {KINDS}), now()
  FROM generate_series(1, {DOCUMENTS}) AS n;
INSERT INTO retrieval_documentversion (id, document_id, number, file, sha256, size, media_type,
    title, metadata, language, text, page_starts, chunk_count, embedded_count, stage, error_code,
    error_class, error_message, source_url, created_at)
  SELECT md5('v' || n)::uuid, md5('d' || n)::uuid, 1, '', '', 0, '', '', '{{}}', 'en', '', '{{}}',
    {CHUNKS_EACH}, {CHUNKS_EACH}, 'ready', '', '', '', '', now()
  FROM generate_series(1, {DOCUMENTS}) AS n;
UPDATE retrieval_document SET current_version_id = md5('v' || name)::uuid;
INSERT INTO retrieval_chunk (id, version_id, ordinal, text, heading_path, char_start, char_end,
    fulltext)
  SELECT md5('c' || n || '-' || o)::uuid, md5('v' || n)::uuid, o, 'common w' || n, '{{}}', 0, 50,
    ('common:1 w' || n || ':2')::tsvector
  FROM generate_series(1, {DOCUMENTS}) AS n, generate_series(1, {CHUNKS_EACH}) AS o;
INSERT INTO retrieval_chunkembedding (chunk_id, space_id, embedding)
  SELECT chunk.id, %(space)s, (SELECT array_agg(random() - 0.5)::vector
    FROM generate_series(1, {DIMENSIONS}) WHERE chunk.id IS NOT NULL)
  FROM retrieval_chunk AS chunk;
ANALYZE
"""


def fill(*, indexed: bool = True) -> EmbeddingSpace:
    """Store the documents, and index their vectors."""
    collection = Collection.objects.create(name="Many")
    space = EmbeddingSpace.objects.create(
        model="hash",
        dimensions=DIMENSIONS,
        backend="tests.fakes.HashEmbedder",
        options={"dimensions": DIMENSIONS},
        state="active",
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.5)")
        for statement in FILL.split(";"):
            cursor.execute(statement, {"collection": collection.pk, "space": space.pk})
        if indexed:
            cursor.execute(
                "CREATE INDEX many_hnsw ON retrieval_chunkembedding USING hnsw"
                f" ((embedding::vector({DIMENSIONS})) vector_cosine_ops)"
                f" WHERE space_id = {space.pk}"
            )
    return space


@pytest.fixture(autouse=True)
def _drop_index() -> Iterator[None]:
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX IF EXISTS many_hnsw")


@pytest.fixture
def small_embedder(settings: Settings) -> None:
    path = "tests.fakes.HashEmbedder"
    settings.RAG_BACKENDS = {
        **settings.RAG_BACKENDS,
        "embedder": {"BACKEND": path, "OPTIONS": {"dimensions": DIMENSIONS}},
    }


def settings_of(kind: str, **more: Any) -> SearchSettings:
    return SearchSettings.parse({"filters": {"metadata.kind": kind}, **more})


async def exact(question: Vectors, kind: str) -> list[Any]:
    """Return the ids of the ten nearest chunks of a kind, compared one by one."""
    rows = await fetch(
        "WITH compared AS MATERIALIZED (SELECT chunk_id, embedding <=> %s::vector AS distance"
        " FROM retrieval_chunkembedding JOIN retrieval_chunk AS chunk ON chunk.id = chunk_id"
        " JOIN retrieval_document AS document ON document.current_version_id = chunk.version_id"
        " WHERE document.metadata->>'kind' = %s)"
        " SELECT chunk_id FROM compared ORDER BY distance LIMIT 10",
        [vector.text_of(question), kind],
    )
    return [id_ for (id_,) in rows]


async def test_filtered_search_finds_the_nearest_there_are(scope: Scope) -> None:
    """Recall against an exact scan is 0.98 or more, whatever share the filter keeps."""
    space = await in_thread(fill)
    random = np.random.default_rng(1)
    for kind in ("rare", "some", "many"):
        narrowed = await narrow(Scope(scope.user, filter=settings_of(kind).filters))
        found = 0
        for _ in range(20):
            question = random.random(DIMENSIONS, dtype=np.float32) - np.float32(0.5)
            meaning = Meaning(question, Space(space.pk, DIMENSIONS))
            sql, params = vector.nearest(meaning, narrowed, 50)
            rows = await fetch(sql, params)
            assert len(rows) == min(50, 20 if kind == "rare" else 50)
            nearest = [id_ for id_, _ in sorted(rows, key=lambda row: row[1])][:10]
            found += len({*nearest} & {*await exact(question, kind)})
        assert found >= 0.98 * 20 * 10, kind


@asynccontextmanager
async def connected(configuration: dict[str, str]) -> AsyncGenerator[Connection]:
    """Open a connection, set to these values, that nobody else gets."""
    own = await connect()
    try:
        await own.configure(configuration)
        yield own
    finally:
        await own.close()


async def test_index_that_gives_up_is_made_up_for(scope: Scope) -> None:
    """Where the index passes over too much, what is in scope is compared one by one."""
    space = await in_thread(fill)
    question = np.ones(DIMENSIONS, dtype=np.float32)
    meaning = Meaning(question, Space(space.pk, DIMENSIONS))
    narrowed = await narrow(Scope(scope.user, filter=settings_of("many").filters))
    assert not narrowed.few
    sql, params = vector.nearest(meaning, narrowed, 200)
    # So few rows are sorted faster than looked for; the index is what is to be made up for.
    off = dict.fromkeys(("enable_sort", "enable_seqscan", "enable_bitmapscan"), "off")
    async with connected({"hnsw.max_scan_tuples": "1", "hnsw.ef_search": "10", **off}) as own:
        plan = await own.execute(f"EXPLAIN {sql}".encode(), params)
        assert "hnsw" in str(await plan.fetchall())
        rows = await (await own.execute(sql.encode(), params)).fetchall()
    assert len(rows) == len(dict(rows)) == 200
    assert [id_ for id_, _ in rows][:10] == await exact(question, "many")


@pytest.mark.usefixtures("small_embedder")
@pytest.mark.parametrize(
    "uses", [{"use_fulltext_search": False}, {"use_semantic_search": False}, {}]
)
async def test_filter_that_keeps_a_thousandth_leaves_enough(
    uses: dict[str, bool], scope: Scope
) -> None:
    """20 of 20,000 chunks are kept, and 10 are found, by meaning and by a word that all hold."""
    await in_thread(fill, indexed=False)
    found = await retrieve(
        analyse("common w1999"), scope, settings_of("rare", rerank=False, top_k=10, **uses)
    )
    assert len(found.hits) == 10
    assert {hit.title for hit in found.hits} <= {"1", "2"}


@pytest.mark.parametrize(
    ("kind", "versions", "few"), [("rare", 2, True), ("some", 40, True), ("many", 600, False)]
)
async def test_narrow_says_what_is_left(kind: str, versions: int, few: bool, scope: Scope) -> None:
    """Few versions are named; few chunks are compared one by one."""
    await in_thread(fill, indexed=False)
    narrowed = await narrow(Scope(scope.user, filter=settings_of(kind).filters))
    assert len(narrowed.versions or ()) == versions
    assert narrowed.few == few == (versions * CHUNKS_EACH <= FEW_CHUNKS)
    assert not (await narrow(scope)).few


async def test_narrowed_scope_keeps_its_limits(scope: Scope) -> None:
    """What may not be seen is not seen in a narrowed scope either."""
    await in_thread(fill, indexed=False)
    await in_thread(Collection.objects.update, visibility="restricted")
    narrowed = await narrow(Scope(scope.user, filter=settings_of("rare").filters))
    assert (narrowed.versions, narrowed.few) == ((), True)
    chief = await in_thread(User.objects.create_user, "chief", is_superuser=True)
    assert len((await narrow(Scope(chief, filter=settings_of("rare").filters))).versions or ()) == 2


async def test_what_all_may_see_is_measured_once_for_all(
    monkeypatch: pytest.MonkeyPatch, add_document: AddDocument, scope: Scope
) -> None:
    """Where that is not little nobody's own scope is measured, and otherwise each one's is."""
    asked: list[str] = []

    async def count(sql: str, params: Any = ()) -> Any:
        asked.append(sql)
        return await fetch(sql, params)

    monkeypatch.setattr(scope_module, "fetch", count)
    monkeypatch.setattr(scope_module, "FEW_CHUNKS", 1)

    def prepare() -> tuple[User, Collection]:
        collection = add_document("One.", "Two.").collection
        grace = User.objects.create_user("grace")
        collection.readers.add(grace)
        return grace, collection

    grace, collection = await in_thread(prepare)
    for user in (scope.user, grace):
        assert not (await narrow(Scope(user))).few
    assert len(asked) == 1
    scope_module.forget()
    collection.visibility = Visibility.RESTRICTED
    await in_thread(collection.save)
    assert (await narrow(scope)).few
    assert not (await narrow(Scope(grace))).few
    assert len(asked) == 4
