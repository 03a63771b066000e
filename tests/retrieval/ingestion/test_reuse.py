"""Vectors of chunks that did not change are copied, not asked for again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from retrieval import backends
from retrieval.backends.base import Vectors
from retrieval.ingestion import spaces
from retrieval.ingestion.retrying import reingest
from retrieval.ingestion.uploads import Upload
from retrieval.models import Chunk, ChunkEmbedding, DocumentVersion, EmbeddingSpace, SpaceState
from tests.fakes import HashEmbedder
from tests.ingesting import assert_whole

pytestmark = pytest.mark.django_db(transaction=True)
Uploader = Callable[[str, bytes], Upload]
Run = Callable[[], None]
SECTIONS = [f"## Part {n}\n\n" + f"Sentence {n} of many words. " * 60 for n in range(6)]


class CountingEmbedder(HashEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return await super().embed_passages(texts)


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> CountingEmbedder:
    embedder = CountingEmbedder()
    monkeypatch.setattr(backends, "embedder", lambda: embedder)
    return embedder


def text(sections: Sequence[str], title: str = "Guide") -> bytes:
    return "\n\n".join([f"# {title}", *sections]).encode()


def vectors(version: DocumentVersion) -> dict[str, list[float]]:
    rows = ChunkEmbedding.objects.filter(chunk__version=version)
    return {text: list(vector) for text, vector in rows.values_list("chunk__text", "embedding")}


def test_only_what_changed_is_embedded(
    upload: Uploader, run_worker: Run, embedder: CountingEmbedder
) -> None:
    """One section of a document changes: its passages are asked for, the others copied."""
    first = upload("a.md", text(SECTIONS)).version
    run_worker()
    embedder.asked.clear()
    changed = [*SECTIONS[:2], "## Part 2\n\nAll of this is new. " * 30, *SECTIONS[3:]]
    second = upload("a.md", text(changed)).version
    run_worker()
    assert_whole(second)
    assert embedder.asked
    assert all("All of this is new." in asked for asked in embedder.asked)
    entry = second.stages.get(stage="embedding")
    assert entry.counts["embedded"] == len(embedder.asked)
    assert entry.counts["embedded"] + entry.counts["copied"] == second.chunk_count
    old, new = vectors(first), vectors(second)
    same = old.keys() & new.keys()
    assert len(same) >= 5
    assert all(old[key] == new[key] for key in same)


def test_another_title_is_another_text(
    upload: Uploader, run_worker: Run, embedder: CountingEmbedder
) -> None:
    """The title is embedded with every passage: when it changes, nothing is copied."""
    upload("a.md", text(SECTIONS))
    run_worker()
    embedder.asked.clear()
    second = upload("a.md", text(SECTIONS, title="Manual")).version
    run_worker()
    assert_whole(second)
    assert len(embedder.asked) == second.chunk_count


def test_reading_anew_asks_for_nothing(
    upload: Uploader, run_worker: Run, embedder: CountingEmbedder
) -> None:
    """A document that is ingested anew becomes a new version, with the vectors it had."""
    document = upload("a.md", text(SECTIONS)).document
    run_worker()
    embedder.asked.clear()
    version = reingest(document)
    assert version is not None
    assert Chunk.objects.ready().exists()
    run_worker()
    assert_whole(version)
    document.refresh_from_db()
    assert document.current_version == version
    assert version.number == 2
    assert embedder.asked == []


def test_every_space_gets_its_own(
    upload: Uploader, run_worker: Run, embedder: CountingEmbedder
) -> None:
    """Vectors are copied within the space that is searched and within the one being filled."""
    first = upload("a.md", text(SECTIONS)).version
    run_worker()
    filling = EmbeddingSpace.objects.create(
        model="other", dimensions=embedder.dimensions, state=SpaceState.FILLING,
        backend="tests.fakes.HashEmbedder",
    )  # fmt: skip
    for vector in ChunkEmbedding.objects.filter(chunk__version=first):
        vector.pk, vector.space = None, filling
        vector.save()
    second = upload("a.md", text([*SECTIONS, "## More\n\nA little more."])).version
    run_worker()
    assert not spaces.missing(Chunk.objects.filter(version=second), filling).exists()
