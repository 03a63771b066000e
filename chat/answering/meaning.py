"""How near statements and sentences are in meaning, by the embedder that questions are asked with.

Vectors are remembered: the same sentences are cited again and again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from retrieval import backends
from retrieval.backends.base import Embedder, Vectors
from retrieval.per_loop import PerLoop

# Of a longer sentence the beginning has to do.
CHARS = 300
REMEMBERED = 4000
# Answers of one process that are compared at a time: questions wait for the same model.
AT_ONCE = 2
# Between these lie the cosines of what is unrelated and of what says the same, in one language and
# in two. Models of the E5 family use a narrow band.
E5_COSINES, E5_COSINES_ACROSS = (0.76, 0.92), (0.74, 0.88)
COSINES = (0.2, 0.7)

_vectors: OrderedDict[tuple[str, str], Vectors] = OrderedDict()


async def _leave(_: asyncio.Semaphore) -> None:
    """Nothing needs to be closed."""


_slots = PerLoop(lambda: asyncio.Semaphore(AT_ONCE), _leave)


async def embed(texts: Iterable[str]) -> None:
    """Have the vectors of texts ready. Raises BackendError."""
    embedder = backends.searched()
    async with await _slots.get():
        wanted = dict.fromkeys(text[:CHARS] for text in texts)
        new = [text for text in wanted if (embedder.model, text) not in _vectors]
        if not new:
            return
        for text, vector in zip(new, await embedder.embed_passages(new), strict=True):
            _vectors[embedder.model, text] = vector
        for text in wanted:
            _vectors.move_to_end((embedder.model, text))
        while len(_vectors) > REMEMBERED:
            _vectors.popitem(last=False)


def nearness(statement: str, sentences: Sequence[str], *, across: bool) -> list[float]:
    """Return how near each sentence is to a statement, 0 to 1; 0 where a vector is not there."""
    embedder = backends.searched()
    said = _vectors.get((embedder.model, statement[:CHARS]))
    if said is None:
        return [0.0] * len(sentences)
    low, high = _band(embedder, across=across)
    found = [_vectors.get((embedder.model, sentence[:CHARS])) for sentence in sentences]
    return [
        0.0 if vector is None else min(1.0, max(0.0, (float(said @ vector) - low) / (high - low)))
        for vector in found
    ]


def _band(embedder: Embedder, *, across: bool) -> tuple[float, float]:
    if "e5" not in embedder.model:
        return COSINES
    return E5_COSINES_ACROSS if across else E5_COSINES
