"""How common terms are: what BM25 weighs them by.

Counted over all chunks, whoever may see them, and kept for a minute where counting is slow.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection

from django.db import connection
from django.db.models import Avg, Count, F

from retrieval.models import Chunk, Document
from retrieval.text import fulltext

KEPT_SECONDS = 60.0
# What is more common than this counts as this common; counting stops here.
FREQUENCY_MAX = 20_000
SLOW_COUNT = 1000
LENGTH_SAMPLE = 1000

# Under these names, which no term has, are kept the number of chunks and their average length.
CHUNKS = " chunks"
LENGTH = " length"

_kept: dict[str, tuple[float, float]] = {}


def languages() -> set[str]:
    """Return the languages of the documents that are searched."""
    searched = Document.objects.filter(enabled=True, current_version__isnull=False)
    return set(searched.values_list("current_version__language", flat=True).distinct().order_by())


def chunk_count() -> int:
    """Return the number of chunks."""
    count = _recall(CHUNKS)
    return int(_keep(CHUNKS, Chunk.objects.count()) if count is None else count)


def average_length() -> float:
    """Return the average number of characters of a chunk, of a sample; at least 1."""
    if (known := _recall(LENGTH)) is not None:
        return known
    sample = Chunk.objects.order_by()[:LENGTH_SAMPLE]
    length = F("char_end") - F("char_start")
    found = sample.aggregate(average=Avg(length), sampled=Count("*"))
    average = max(1.0, float(found["average"] or 0))
    return _keep(LENGTH, average, slow=found["sampled"] == LENGTH_SAMPLE)


def frequencies(terms: Collection[str]) -> dict[str, int]:
    """Return for each term how many chunks hold it."""
    found = {term: _recall(term) for term in terms}
    missing = [term for term, count in found.items() if count is None]
    found |= {term: _keep(term, count) for term, count in _count(missing).items()}
    return {term: int(count or 0) for term, count in found.items()}


def inverse_frequency(frequency: int, chunks: int) -> float:
    """Return the IDF, as Lucene has it: above 0 for the commonest term too."""
    return math.log(1 + (max(chunks - frequency, 0) + 0.5) / (frequency + 0.5))


def _count(terms: list[str]) -> dict[str, int]:
    if not terms:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT position, (SELECT count(*) FROM (SELECT 1 FROM retrieval_chunk"
            " WHERE fulltext @@ query LIMIT %s) AS matching)"
            " FROM unnest(%s::tsquery[]) WITH ORDINALITY AS term (query, position)",
            [FREQUENCY_MAX, fulltext.array(fulltext.quote(term) for term in terms)],
        )
        return {terms[position - 1]: count for position, count in cursor.fetchall()}


def _recall(name: str) -> float | None:
    count, until = _kept.get(name, (0.0, 0.0))
    return count if until > time.monotonic() else None


def _keep(name: str, value: float, *, slow: bool | None = None) -> float:
    if value >= SLOW_COUNT if slow is None else slow:
        _kept[name] = (value, time.monotonic() + KEPT_SECONDS)
    return value


def forget() -> None:
    """Count anew."""
    _kept.clear()
