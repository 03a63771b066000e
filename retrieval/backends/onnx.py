"""The bundled embedding model, multilingual-e5-small, on onnxruntime."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from django.conf import settings
from tokenizers import Tokenizer

from retrieval.backends import e5_convert

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval.backends.base import Vectors

# Tokens that are computed at once, padding included. More is no faster, and a question waits
# for the batch before it.
BATCH_TOKENS = 768


class OnnxEmbedder:
    """Embeds on this machine; no more than one batch at a time, in a thread of its own."""

    model = "multilingual-e5-small"
    dimensions = 384
    max_tokens = 512
    query_prefix = "query: "
    passage_prefix = "passage: "

    def __init__(self, threads: int = 0) -> None:
        """Compute with that many threads; 0 is one a core."""
        self._threads = threads
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="embedder")

    def prepare(self) -> None:
        """Convert the weights (some seconds, the first time) and load them."""
        self._executor.submit(lambda: (self._session, self.tokenizer)).result()

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer; it does not truncate."""
        return Tokenizer.from_file(str(self._paths[1]))

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in `text`, special ones and the prefix not counted."""
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (384,)."""
        vectors: Vectors = (await self._embed([self.query_prefix + text]))[0]
        return vectors

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), 384)."""
        return await self._embed([self.passage_prefix + text for text in texts])

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        run = asyncio.get_running_loop().run_in_executor
        tokens = await run(self._executor, self._encode, texts)
        vectors: Vectors = np.empty((len(texts), self.dimensions), np.float32)
        # A batch a turn: what others want is done between two batches.
        for batch in _batches([len(ids) for ids in tokens]):
            vectors[batch] = await run(self._executor, self._run, [tokens[i] for i in batch])
        return vectors

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text; too long ones are cut, and keep their last token."""
        encodings = self.tokenizer.encode_batch_fast(texts)
        limit = self.max_tokens - 1
        return [
            ids if len(ids) <= self.max_tokens else [*ids[:limit], ids[-1]]
            for ids in (encoding.ids for encoding in encodings)
        ]

    def _run(self, batch: list[list[int]]) -> Vectors:
        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        vectors: Vectors = self._session.run(
            ["embedding"], {"input_ids": ids, "attention_mask": mask}
        )[0]
        return vectors

    @cached_property
    def _paths(self) -> tuple[str, str]:
        graph, tokenizer = e5_convert.prepare(settings.MODEL_DIR)
        return str(graph), str(tokenizer)

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = self._threads
        # Threads that spin while they wait take the cores from everything else.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(
            self._paths[0], options, providers=["CPUExecutionProvider"]
        )


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the positions of texts to compute together: of similar length, few tokens in all."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[position] * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
