"""An embedder whose vectors are counts of hashed words: texts that share words are near."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from retrieval.backends.base import BackendError, Vectors
from retrieval.text.terms import words


class WordEmbedder:
    model = "words"
    max_tokens = 512
    query_prefix = ""
    passage_prefix = ""

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions

    def prepare(self) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed(self, text: str) -> Vectors:
        vector = np.full(self.dimensions, 0.01, dtype=np.float32)
        for word in words(text):
            vector[zlib.crc32(word.encode()) % self.dimensions] += 1
        unit: Vectors = vector / np.float32(np.linalg.norm(vector))
        return unit

    async def embed_query(self, text: str) -> Vectors:
        return self.embed(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.embed(text) for text in texts])


class FailingEmbedder(WordEmbedder):
    async def embed_query(self, text: str) -> Vectors:
        raise BackendError("The embedding server cannot be reached.", True, code="unreachable")
