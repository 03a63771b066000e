"""Ingestion with the bundled embedding model."""

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from pgvector.django import CosineDistance
from pytest_django import Settings

from retrieval import backends
from retrieval.ingestion.chunking import MAX_TOKENS
from retrieval.ingestion.uploads import Upload
from retrieval.models import Chunk, EmbeddingSpace

pytestmark = pytest.mark.django_db(transaction=True)
ONNX = "retrieval.backends.onnx.OnnxEmbedder"
TEXT = """# Warehouse

The warehouse opens at nine and closes at six on working days.

# Canteen

Lunch is served from noon; on Fridays there is fish and a vegetable soup.

# Fahrräder

Die Fahrräder stehen im Keller, der Schlüssel hängt am Empfang.
"""


def test_question_finds_its_passage(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None], settings: Settings
) -> None:
    """Chunks have the model's size and vectors: a question is nearest to what answers it."""
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {"embedder": {"BACKEND": ONNX, "OPTIONS": {}}}
    backends.embedder().prepare()
    upload("house.md", TEXT.encode())
    upload("ducks.md", ("# Ducks\n\n" + "Ducks swim on ponds and eat weed. " * 300).encode())
    run_worker()
    chunks = Chunk.objects.ready()
    assert all(backends.embedder().count_tokens(chunk.text) <= MAX_TOKENS for chunk in chunks)
    space = EmbeddingSpace.objects.get()
    assert (space.model, space.dimensions) == ("multilingual-e5-small", 384)
    vector = asyncio.run(backends.embedder().embed_query("Where do I get the bicycle key?"))
    assert np.isclose(np.linalg.norm(vector), 1, atol=1e-3)
    best = chunks.order_by(CosineDistance("embeddings__embedding", vector)).first()
    assert best is not None
    assert "Schlüssel" in best.text
