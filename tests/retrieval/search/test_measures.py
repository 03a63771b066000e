"""Measures of distance: each has an index that the search's own statement uses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from retrieval.backends.base import Vectors
from retrieval.database import fetch, in_thread
from retrieval.ingestion import indexes
from retrieval.measures import MEASURES, Measure
from retrieval.models import Chunk, ChunkEmbedding, EmbeddingSpace, SpaceState
from retrieval.search import Scope, SearchSettings, SearchSettingsError, candidates, vector
from retrieval.search import spaces as spaces_module
from retrieval.search.retrieve import order
from retrieval.search.spaces import Space
from retrieval.search.vector import Meaning
from tests.retrieval.search.conftest import AddDocument

pytestmark = pytest.mark.django_db(transaction=True)

DIMENSIONS = 24
ROWS = 300
PLAN = {"enable_seqscan": "off", "enable_sort": "off"}

measures = pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))


def vectors(count: int, dimensions: int = DIMENSIONS) -> Vectors:
    """Return vectors of several lengths, each component above or below zero."""
    random = np.random.default_rng(7)
    made: Vectors = random.normal(size=(count, dimensions)).astype(np.float32)
    return made * random.uniform(0.2, 3, size=(count, 1)).astype(np.float32)


@pytest.fixture(autouse=True)
def _indexes_go() -> Iterator[None]:
    """The table stays between tests, and its indexes with it."""
    yield
    for space in EmbeddingSpace.objects.all():
        indexes.drop_all(space)


def fill(add_document: AddDocument, rows: int = ROWS, dimensions: int = DIMENSIONS) -> Space:
    """Make a document of many chunks, embedded in a space of its own that is searched."""
    version = add_document("Pumps need oil.").versions.get()
    EmbeddingSpace.objects.update(state=SpaceState.KEPT)
    space = EmbeddingSpace.objects.create(
        model="numbers", dimensions=dimensions, state=SpaceState.ACTIVE
    )
    chunks = Chunk.objects.bulk_create(
        Chunk(version=version, ordinal=n, text=f"{n}", char_start=0, char_end=1)
        for n in range(1, rows + 1)
    )
    ChunkEmbedding.objects.bulk_create(
        ChunkEmbedding(chunk=chunk, space=space, embedding=row)
        for chunk, row in zip(chunks, vectors(rows, dimensions), strict=True)
    )
    return Space(space.pk, dimensions)


def build(space: Space, measure: Measure, method: indexes.Method = "hnsw") -> None:
    indexes.build_index(EmbeddingSpace.objects.get(pk=space.id), measure, method)


def by(measure: Measure, **more: object) -> SearchSettings:
    return SearchSettings.parse({"chunk_settings": {"index_measure": measure.name}, **more})


async def plan(space: Space, scope: Scope, measure: Measure) -> str:
    meaning = Meaning(vectors(1, space.dimensions)[0], space)
    sql, params = vector.nearest(meaning, scope, 3, measure)
    return str(await fetch(f"EXPLAIN {sql}", params, PLAN))


@measures
async def test_index_is_used(measure: Measure, add_document: AddDocument, scope: Scope) -> None:
    """The planner finds the index of the measure in the search's own statement."""
    space = await in_thread(fill, add_document)
    await in_thread(build, space, measure)
    assert f"using {measure.index_name(space.id, 'hnsw')}" in await plan(space, scope, measure)


@pytest.mark.parametrize(
    "measure", [m for m in MEASURES.values() if m.ivfflat], ids=lambda measure: measure.name
)
async def test_ivfflat_is_used(measure: Measure, add_document: AddDocument, scope: Scope) -> None:
    """So is an IVFFlat index, where pgvector has one."""
    space = await in_thread(fill, add_document)
    await in_thread(build, space, measure, "ivfflat")
    assert f"using {measure.index_name(space.id, 'ivfflat')}" in await plan(space, scope, measure)


@pytest.mark.parametrize("dimensions", [2100, 4100])
@measures
async def test_wide_vectors_use_the_index(
    dimensions: int, measure: Measure, add_document: AddDocument, scope: Scope
) -> None:
    """Above 2,000 dimensions by half precision, above 4,000 by bits only."""
    space = await in_thread(fill, add_document, 20, dimensions)
    if not measure.indexable(dimensions):
        assert dimensions == 4100
        assert not measure.binary
        return
    await in_thread(build, space, measure)
    assert measure.index_name(space.id, "hnsw") in await plan(space, scope, measure)


@measures
async def test_index_of_another_measure_is_not_used(
    measure: Measure, add_document: AddDocument, scope: Scope
) -> None:
    """Each measure has an index of its own."""
    space = await in_thread(fill, add_document)
    for other in MEASURES.values():
        if other is not measure:
            await in_thread(build, space, other)
    assert f"embedding_space_{space.id}" not in await plan(space, scope, measure)


def distances(measure: Measure, asked: Vectors, rows: Vectors) -> Vectors:
    """Return the distances, as their definitions have them."""
    cosine = 1 - rows @ asked / np.linalg.norm(rows, axis=1) / np.linalg.norm(asked)
    found: Vectors = {
        "l2_distance": np.linalg.norm(rows - asked, axis=1),
        "max_inner_product": -(rows @ asked),
        "l1_distance": np.abs(rows - asked).sum(axis=1),
    }.get(measure.name, cosine)
    return found


@measures
@pytest.mark.parametrize("indexed", [True, False])
async def test_order_is_the_measures(
    indexed: bool, measure: Measure, add_document: AddDocument, scope: Scope
) -> None:
    """Hits are in the order of the measure, with or without its index; bits in the cosine's."""
    space = await in_thread(fill, add_document)
    if indexed:
        await in_thread(build, space, measure)
        active = await spaces_module.active()
        assert active is not None
        space = active
        assert space.has_index(measure, "hnsw")
    asked = vectors(ROWS + 1)[ROWS]
    how = by(measure, search_mode="basic", top_k=60)
    hits = order(await candidates.load(scope, how, Meaning(asked, space), None), how)
    rows = vectors(ROWS)
    expected = [str(n + 1) for n in np.argsort(distances(measure, asked, rows))]
    # What bits tell apart badly may be missing among the later ones.
    assert [hit.text for hit in hits[:10]] == expected[:10]
    cosines = rows @ asked / np.linalg.norm(rows, axis=1) / np.linalg.norm(asked)
    for hit in hits:
        assert hit.scores["vector"] == pytest.approx(cosines[int(hit.text) - 1], abs=1e-5)


async def test_too_much_to_compare_is_refused(
    add_document: AddDocument, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an index, and with too many vectors, the error names the field and the command."""
    space = await in_thread(fill, add_document)
    how, meaning = by(MEASURES["l1_distance"]), Meaning(vectors(1)[0], space)
    monkeypatch.setattr(vector, "EXACT_ROWS", ROWS)
    assert await candidates.load(scope, how, meaning, None)
    monkeypatch.setattr(vector, "EXACT_ROWS", ROWS - 1)
    with pytest.raises(SearchSettingsError, match="index --measure l1_dist") as caught:
        await candidates.load(scope, how, meaning, None)
    assert caught.value.field == "chunk_settings.index_measure"


async def test_too_wide_to_index_is_told(
    add_document: AddDocument, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above 4,000 dimensions the error tells which measures can be indexed."""
    space = await in_thread(fill, add_document, 5, 4100)
    monkeypatch.setattr(vector, "EXACT_ROWS", 4)
    meaning = Meaning(vectors(1, 4100)[0], space)
    with pytest.raises(SearchSettingsError, match="--measure hamming_distance"):
        await candidates.load(scope, SearchSettings(), meaning, None)


async def test_probes_are_of_ivfflat_only(add_document: AddDocument) -> None:
    """`probes` is told to PostgreSQL where there is such an index."""
    how = SearchSettings.parse({"chunk_settings": {"probes": 3}})
    space = await in_thread(fill, add_document)
    assert "ivfflat.probes" not in await vector.configuration(how, space)
    await in_thread(build, space, MEASURES["cosine_distance"], "ivfflat")
    active = await spaces_module.active()
    assert active is not None
    probes = "SELECT current_setting('ivfflat.probes')"
    assert await fetch(probes, (), await vector.configuration(how, active)) == [("3",)]
