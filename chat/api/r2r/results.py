"""Passages and citations as R2R has them: pure data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from chat.frames import CitationData, Source

Result = dict[str, Any]

# Best first; what all results have is what they are ordered by.
STAGES = ("reranked", "fused", "nearness", "vector", "fulltext")
# Code points of the answer on either side of a marker.
CONTEXT = 40


@dataclass(frozen=True)
class Known:
    """What is stored of a passage, beside what was found of it."""

    text: str
    ordinal: int
    owner: UUID
    collection: UUID
    metadata: Mapping[str, Any] = field(default_factory=dict)


def results(
    sources: Sequence[Source],
    known: Mapping[str, Known],
    *,
    scores: bool = True,
    metadatas: bool = True,
) -> list[Result]:
    """Return passages as R2R's chunk search results, the best score first.

    `known` are by id of the passage; of others there is what was found.
    """
    stage = next((each for each in STAGES if all(each in s.scores for s in sources)), None)
    ranked = [
        (source.scores[stage] if stage else 1 / rank, source)
        for rank, source in enumerate(sources, 1)
    ]
    ranked.sort(key=lambda each: -each[0])
    return [
        result(source, known.get(source.source_id), score if scores else None, metadatas)
        for score, source in ranked
    ]


def result(
    source: Source, known: Known | None, score: float | None, metadatas: bool = True
) -> Result:
    """Return a passage as R2R's chunk search result."""
    said = {**known.metadata, "chunk_order": known.ordinal} if known else {}
    said["title"] = source.title
    if source.page is not None:
        said["page_number"] = source.page
    if source.heading:
        said["heading"] = source.heading
    return {
        "id": source.source_id,
        "document_id": source.document_id,
        "owner_id": str(known.owner) if known else None,
        "collection_ids": [str(known.collection)] if known else [],
        "score": score,
        "text": known.text if known else source.snippet,
        "metadata": said if metadatas else {},
    }


def used(sources: Iterable[Source]) -> list[Source]:
    """Return the passages that the answer could draw on; all that were found if there are none."""
    found = list(sources)
    return [source for source in found if source.index is not None] or found


def by_number(sources: Iterable[Source], found: Iterable[Result]) -> dict[int, Result]:
    """Return results by the numbers that the answer cites them by, the first of each."""
    by_id = {each["id"]: each for each in found}
    numbered: dict[int, Result] = {}
    for source in sources:
        if source.index is not None and source.source_id in by_id:
            numbered.setdefault(source.index, by_id[source.source_id])
    return numbered


def citations(
    answer: str, cited: Sequence[CitationData], payloads: Mapping[int, Result]
) -> list[dict[str, Any]]:
    """Return the citations of a whole answer, one for each marker, as R2R has them at its end.

    The first of each number is new, and has its passage.
    """
    entries = []
    seen: set[int] = set()
    for citation in cited:
        start, end = citation.span
        is_new = citation.index not in seen
        seen.add(citation.index)
        entries.append(
            {
                "id": str(citation.index),
                "object": "citation",
                "is_new": is_new,
                "span": {
                    "start_index": start,
                    "end_index": end,
                    "context_start": max(0, start - CONTEXT),
                    "context_end": min(len(answer), end + CONTEXT),
                },
                "source_type": citation.source_type,
                "payload": payloads.get(citation.index) if is_new else None,
            }
        )
    return entries
