"""A collection, an embedder that costs nothing, and a worker that runs what is queued."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from django.core.files.base import ContentFile
from pytest_django import Settings

from retrieval.backends.base import Vectors
from retrieval.ingestion.uploads import Upload, add_document
from retrieval.ingestion.worker import work_off
from retrieval.models import Collection

DATA = Path(__file__).parents[2] / "data"


class HashEmbedder:
    """Vectors that depend on the text only."""

    model = "hash"
    dimensions = 8
    max_tokens = 512
    query_prefix = ""
    passage_prefix = ""

    def prepare(self) -> None:
        """Nothing to prepare."""

    def count_tokens(self, text: str) -> int:
        return len(text) // 4 + 1

    async def embed_query(self, text: str) -> Vectors:
        return (await self.embed_passages([text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        digests = [hashlib.sha256(text.encode()).digest()[: self.dimensions] for text in texts]
        vectors = np.array([list(digest) for digest in digests], dtype=np.float32) + 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def _surroundings(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {
        "embedder": {"BACKEND": f"{HashEmbedder.__module__}.HashEmbedder", "OPTIONS": {}}
    }


@pytest.fixture
def collection(db: None) -> Collection:
    return Collection.objects.create(name="Test")


@pytest.fixture
def upload(collection: Collection) -> Callable[[str, bytes], Upload]:
    def upload(name: str, content: bytes) -> Upload:
        return add_document(collection, name, ContentFile(content, name))

    return upload


@pytest.fixture
def run_worker() -> Callable[[], None]:
    return lambda: asyncio.run(work_off())
