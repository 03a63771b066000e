"""Embeddings that are computed once: a set is evaluated again and again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from django.conf import settings
from django.test.utils import override_settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from retrieval.backends.base import Embedder, Vectors

# Texts that are embedded before what was computed is stored.
BATCH = 128
# The role of the embedder that is asked for what is not there.
UNCACHED = "uncached embedder"


class CachedEmbedder:
    """Asks another embedder only for what it has not embedded before.

    `path` is a file of SQLite, which several processes may use at once; the vectors in it are
    known by their model and a hash of their text.
    """

    def __init__(self, path: str) -> None:
        config = settings.RAG_BACKENDS[UNCACHED]
        self._inner: Embedder = import_string(config["BACKEND"])(**config.get("OPTIONS", {}))
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=60
        )
        self._store.execute("PRAGMA journal_mode = WAL")
        self._store.execute("PRAGMA synchronous = NORMAL")
        self._store.execute(
            "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
            " WITHOUT ROWID"
        )
        self.model = self._inner.model
        self.max_tokens = self._inner.max_tokens
        self.query_prefix = self._inner.query_prefix
        self.passage_prefix = self._inner.passage_prefix

    @property
    def dimensions(self) -> int:
        """As many as the other embedder has; some learn it from their first answer."""
        return self._inner.dimensions

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The other embedder's."""
        return self._inner.tokenizer

    def prepare(self) -> None:
        """Prepare the other embedder."""
        self._inner.prepare()

    def count_tokens(self, text: str) -> int:
        """Return the number of the model's tokens in `text`."""
        return self._inner.count_tokens(text)

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimensions,)."""
        key = self._key("query", self.query_prefix, text)
        known = self._find(key)
        if known is None:
            known = await self._inner.embed_query(text)
            self._keep([(key, known)])
        return known

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), dimensions)."""
        keys = [self._key("passage", self.passage_prefix, text) for text in texts]
        found = {key: self._find(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        pending = list(missing.items())
        for start in range(0, len(pending), BATCH):
            batch = pending[start : start + BATCH]
            vectors = await self._inner.embed_passages([text for _, text in batch])
            computed = [(key, vector) for (key, _), vector in zip(batch, vectors, strict=True)]
            self._keep(computed)
            found.update(computed)
        known = [cast("Vectors", found[key]) for key in keys]
        return np.array(known, np.float32).reshape(len(texts), -1)

    def _key(self, kind: str, prefix: str, text: str) -> bytes:
        name = json.dumps([self.model, self.dimensions, kind, prefix, text])
        return hashlib.sha256(name.encode()).digest()

    def _find(self, key: bytes) -> Vectors | None:
        row = self._store.execute("SELECT value FROM vector WHERE key = ?", (key,)).fetchone()
        return np.frombuffer(row[0], np.float32) if row else None

    def _keep(self, vectors: Sequence[tuple[bytes, Vectors]]) -> None:
        with self._store:
            self._store.execute("BEGIN")
            self._store.executemany(
                "INSERT OR IGNORE INTO vector VALUES (?, ?)",
                [(key, np.asarray(vector, np.float32).tobytes()) for key, vector in vectors],
            )


def default_path() -> Path:
    """Return where embeddings are kept unless another file is named."""
    return Path(settings.STATE_DIR) / "evaluation" / "embeddings.sqlite3"


@contextmanager
def cached_embeddings(path: Path) -> Iterator[None]:
    """Let the configured embedder ask its model only for what is not in the file."""
    cached = {
        "BACKEND": "retrieval.evaluation.cache.CachedEmbedder",
        "OPTIONS": {"path": str(path)},
    }
    roles = {UNCACHED: settings.RAG_BACKENDS["embedder"], "embedder": cached}
    with override_settings(RAG_BACKENDS=settings.RAG_BACKENDS | roles):
        yield
