"""A collection, an embedder that costs nothing, and a worker that runs what is queued."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from pytest_django import Settings

from retrieval.ingestion.uploads import Upload, add_document
from retrieval.ingestion.worker import work_off
from retrieval.models import Collection

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(autouse=True)
def _surroundings(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder", "OPTIONS": {}}
    }


@pytest.fixture
def data() -> Path:
    return DATA


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
    """Run the jobs that are due."""
    return lambda: asyncio.run(work_off())
