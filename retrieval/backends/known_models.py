"""Embedding models that providers serve, and how to count their tokens without their tokenizer."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class EmbeddingModel(NamedTuple):
    """Dimensions, the window in tokens, and what texts have to begin with."""

    dimensions: int
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""


KNOWN = {
    "all-minilm": EmbeddingModel(384, 256),
    "bge-m3": EmbeddingModel(1024, 8192),
    "embed-english-light-v3.0": EmbeddingModel(384, 512),
    "embed-english-v3.0": EmbeddingModel(1024, 512),
    "embed-multilingual-light-v3.0": EmbeddingModel(384, 512),
    "embed-multilingual-v3.0": EmbeddingModel(1024, 512),
    "embed-v4.0": EmbeddingModel(1536, 128_000),
    "multilingual-e5-large": EmbeddingModel(1024, 512, "query: ", "passage: "),
    "mxbai-embed-large": EmbeddingModel(
        1024, 512, "Represent this sentence for searching relevant passages: "
    ),
    "nomic-embed-text": EmbeddingModel(768, 2048, "search_query: ", "search_document: "),
    "text-embedding-3-large": EmbeddingModel(3072, 8191),
    "text-embedding-3-small": EmbeddingModel(1536, 8191),
    "text-embedding-ada-002": EmbeddingModel(1536, 8191),
}
# A window that every embedding model has.
UNKNOWN = EmbeddingModel(dimensions=0, max_tokens=512)

_run = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]+|[^\w\s]|_")


def known(name: str) -> EmbeddingModel:
    """Return what is known of a model; its owner and its tag (`nomic-embed-text:v1.5`) are not."""
    return KNOWN.get(name.rsplit("/", 1)[-1].split(":", 1)[0].lower(), UNKNOWN)


@lru_cache(1024)  # the same passage is counted to batch it, and to keep to the limits
def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few."""
    return sum(_tokens(found) for found in _run.findall(text))


def _tokens(run: str) -> int:
    """Words of plain letters take few tokens, numbers more; other scripts one for two bytes."""
    if not run.isascii():
        return (len(run.encode()) + 1) // 2
    return len(run) // 2 + 1 if run.isdigit() else len(run) // 4 + 1
