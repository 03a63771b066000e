"""Backends for tests: they implement the real roles, and wait for events, never for time."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, Sequence

import numpy as np

from retrieval.backends.base import (
    BackendError,
    Delta,
    GenerationRequest,
    Passage,
    Query,
    Ranked,
    Vectors,
)
from retrieval.text.terms import words


class HashEmbedder:
    """Vectors are counts of hashed words: texts that share words are near."""

    model = "hash"
    max_tokens = 512
    query_prefix = ""
    passage_prefix = ""
    tokenizer = None

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions

    def prepare(self) -> None:
        """Nothing needs to be made ready."""

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
        return np.array([self.embed(text) for text in texts]).reshape(-1, self.dimensions)


class ScriptedGenerator:
    """Says what `script` says: a text is streamed, an event waited for, an exception raised."""

    model = "scripted"
    quotes_only = False

    def __init__(self) -> None:
        self.script: list[str | asyncio.Event | BaseException] = []
        self.requests: list[GenerationRequest] = []
        self.closed = asyncio.Event()

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        self.requests.append(request)
        try:
            for step in self.script:
                if isinstance(step, str):
                    yield Delta(step)
                elif isinstance(step, asyncio.Event):
                    await step.wait()
                else:
                    raise step
            yield Delta(finish_reason="stop", prompt_tokens=10, completion_tokens=2)
        finally:
            self.closed.set()


class FailingEmbedder(HashEmbedder):
    """An embedder whose provider is away when a question comes."""

    async def embed_query(self, text: str) -> Vectors:
        raise BackendError("made up: secret detail", True, code="unreachable")


class FailingReranker:
    """A reranker whose provider is away."""

    answer_threshold = 0.0

    async def rerank(self, query: Query, passages: Sequence[Passage], top_n: int) -> list[Ranked]:
        raise BackendError("made up: secret detail", True, code="unreachable")
