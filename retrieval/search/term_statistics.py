"""How common terms are: what BM25 weighs them by.

Counted over all chunks, whoever may see them, and kept for a minute where counting is slow.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from typing import Any, TypeVar

from retrieval.database import fetch
from retrieval.text import fulltext

Value = TypeVar("Value")

KEPT_SECONDS = 60.0
# What is more common than this counts as this common; counting stops here.
FREQUENCY_MAX = 20_000
SLOW_COUNT = 1000
LENGTH_SAMPLE = 1000

# Names of what is kept beside the frequencies; no term has a space in it.
LANGUAGES = " languages"
CHUNKS = " chunks"
LENGTH = " length"

_kept: dict[str, tuple[Any, float]] = {}


async def languages() -> list[str]:
    """Return the languages of the documents that are searched."""
    known: list[str] | None = _recall(LANGUAGES)
    if known is not None:
        return known
    rows = await fetch(
        "SELECT DISTINCT version.language FROM retrieval_document AS document"
        " JOIN retrieval_documentversion AS version ON version.id = document.current_version_id"
        " WHERE document.enabled"
    )
    return _keep(LANGUAGES, [language for (language,) in rows], slow=await _is_large())


async def chunk_count() -> int:
    """Return the number of chunks."""
    known: int | None = _recall(CHUNKS)
    if known is not None:
        return known
    count: int
    ((count,),) = await fetch("SELECT count(*) FROM retrieval_chunk")
    return _keep(CHUNKS, count, slow=count >= SLOW_COUNT)


async def average_length() -> float:
    """Return the average number of characters of a chunk, of a sample; at least 1."""
    known: float | None = _recall(LENGTH)
    if known is not None:
        return known
    average: float | None
    ((average,),) = await fetch(
        "SELECT avg(char_end - char_start)::float8 FROM"
        " (SELECT char_start, char_end FROM retrieval_chunk LIMIT %s) AS sample",
        [LENGTH_SAMPLE],
    )
    return _keep(LENGTH, max(1.0, average or 0.0), slow=await _is_large())


async def frequencies(terms: Collection[str]) -> dict[str, int]:
    """Return for each term how many chunks hold it."""
    found = {term: _recall(term) for term in terms}
    missing = [term for term, count in found.items() if count is None]
    for term, count in (await _count(missing)).items():
        found[term] = _keep(term, count, slow=count >= SLOW_COUNT)
    return {term: count or 0 for term, count in found.items()}


def inverse_frequency(frequency: int, chunks: int) -> float:
    """Return the IDF, as Lucene has it: above 0 for the commonest term too."""
    return math.log(1 + (max(chunks - frequency, 0) + 0.5) / (frequency + 0.5))


async def _count(terms: list[str]) -> dict[str, int]:
    if not terms:
        return {}
    rows = await fetch(
        "SELECT position, (SELECT count(*) FROM (SELECT 1 FROM retrieval_chunk"
        " WHERE fulltext @@ query LIMIT %s) AS matching)"
        " FROM unnest(%s::tsquery[]) WITH ORDINALITY AS term (query, position)",
        [FREQUENCY_MAX, fulltext.array(fulltext.quote(term) for term in terms)],
    )
    return {terms[position - 1]: count for position, count in rows}


async def _is_large() -> bool:
    return await chunk_count() >= SLOW_COUNT


def _recall(name: str) -> Any:
    value, until = _kept.get(name, (None, 0.0))
    return value if until > time.monotonic() else None


def _keep(name: str, value: Value, *, slow: bool) -> Value:
    if slow:
        _kept[name] = (value, time.monotonic() + KEPT_SECONDS)
    return value


def forget() -> None:
    """Count anew."""
    _kept.clear()
