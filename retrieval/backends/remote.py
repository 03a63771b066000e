"""What embedders behind an API have in common: batches, retries, and what is known of the model."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from retrieval.backends import clients, rate_limits
from retrieval.backends.base import BackendError
from retrieval.backends.known_models import estimate_tokens, known

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval.backends.base import Vectors

BATCH_TOKENS = 100_000


class RemoteEmbedder(ABC):
    """An embedder whose subclass makes one request."""

    batch_size: int
    tokenizer = None

    def __init__(
        self,
        model: str,
        *,
        dimensions: int = 0,
        max_tokens: int = 0,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> None:
        """Take what is not given from what is known of the model.

        Dimensions that are neither given nor known are learnt from the first answer.
        """
        native = known(model)
        self.model = model
        self.dimensions = dimensions or native.dimensions
        self.max_tokens = max_tokens or native.max_tokens
        self.query_prefix = native.query_prefix if query_prefix is None else query_prefix
        self.passage_prefix = native.passage_prefix if passage_prefix is None else passage_prefix
        # Most servers refuse to be told the dimensions, even if they are the model's own.
        self.shortened = bool(native.dimensions) and self.dimensions != native.dimensions

    def prepare(self) -> None:
        """Learn the dimensions, if they are not known; not to be called on an event loop."""
        if not self.dimensions:
            asyncio.run(self.embed_query("dimensions"))

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens the text has, rather too many than too few."""
        return estimate_tokens(text)

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimensions,). Raises BackendError."""
        vectors = await self._embed([self.query_prefix + text], query=True)
        vector: Vectors = vectors[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), dimensions). Raises BackendError."""
        prefixed = [self.passage_prefix + text for text in texts]
        batches = [await self._embed(batch, query=False) for batch in self._batches(prefixed)]
        return np.concatenate(batches) if batches else np.empty((0, self.dimensions), np.float32)

    @abstractmethod
    async def request(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """Ask the provider once. Raises BackendError."""

    async def _embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        tokens = 0 if query else sum(map(self.count_tokens, texts))
        async for attempt in clients.attempts(patient=not query):
            with attempt:
                if not query:  # nobody waits for those, and they are many
                    await rate_limits.shared.take(tokens)
                return self._checked(await self.request(texts, query=query), len(texts))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _checked(self, rows: list[list[float]], expected: int) -> Vectors:
        if len({len(row) for row in rows}) != 1 or len(rows) != expected:
            raise clients.error("malformed")
        vectors: Vectors = np.asarray(rows, np.float32)
        self.dimensions = self.dimensions or vectors.shape[1]
        if vectors.shape[1] != self.dimensions:
            raise BackendError(
                f"The embedding model gives vectors of {vectors.shape[1]} dimensions, not of "
                f"{self.dimensions}: set EMBEDDING_DIMENSIONS={vectors.shape[1]}.",
                retryable=False,
                code="bad_request",
            )
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        batch: list[str] = []
        tokens = 0
        for text in texts:
            size = self.count_tokens(text)
            if batch and (len(batch) == self.batch_size or tokens + size > BATCH_TOKENS):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch
