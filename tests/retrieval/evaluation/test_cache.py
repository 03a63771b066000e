"""Embeddings that are computed once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from retrieval import backends
from retrieval.backends.base import Vectors
from retrieval.evaluation.cache import cached_embeddings
from tests.fakes import HashEmbedder


class CountingEmbedder(HashEmbedder):
    """Says what it was asked for."""

    asked: list[str]

    def __init__(self) -> None:
        super().__init__()
        type(self).asked = []

    async def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return await super().embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        return await super().embed_passages(texts)


@pytest.fixture(autouse=True)
def _counting(settings: Settings) -> None:
    path = f"{__name__}.CountingEmbedder"
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {"embedder": {"BACKEND": path}}


async def test_only_what_is_new_is_embedded(tmp_path: Path) -> None:
    """A second run asks the model for other texts only, and gets the same vectors."""
    path = tmp_path / "new" / "vectors"
    with cached_embeddings(path):
        first = await backends.embedder().embed_passages(["one", "two"])
        assert CountingEmbedder.asked == ["one", "two"]
    with cached_embeddings(path):
        second = await backends.embedder().embed_passages(["two", "three", "one"])
        assert CountingEmbedder.asked == ["three"]
    assert np.array_equal(second[[2, 0]], first)
    assert np.array_equal(second[1], HashEmbedder().embed("three"))


async def test_questions_are_kept_apart_from_passages(tmp_path: Path) -> None:
    """Many models embed a question otherwise than a passage."""
    with cached_embeddings(tmp_path / "vectors"):
        embedder = backends.embedder()
        await embedder.embed_passages(["one"])
        await embedder.embed_query("one")
        await embedder.embed_query("one")
        assert CountingEmbedder.asked == ["one", "one"]


async def test_other_models_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of one model are never taken for another's."""
    path = tmp_path / "vectors"
    with cached_embeddings(path):
        await backends.embedder().embed_query("one")
    monkeypatch.setattr(CountingEmbedder, "model", "other")
    with cached_embeddings(path):
        await backends.embedder().embed_query("one")
        assert CountingEmbedder.asked == ["one"]


async def test_configured_embedder_comes_back(tmp_path: Path) -> None:
    """What is cached is cached within the context only."""
    with cached_embeddings(tmp_path / "vectors"):
        assert backends.embedder().model == "hash"
    assert isinstance(backends.embedder(), HashEmbedder)
