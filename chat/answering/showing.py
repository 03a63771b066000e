"""What of the passages that were found is shown, as the search settings want it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chat.frames import Source
from retrieval import search


@dataclass(frozen=True)
class Showing:
    """Whether scores are shown, and the documents' metadata if that is."""

    scores: bool
    metadata: Mapping[UUID, dict[str, Any]] | None = None

    def __call__(self, source: Source) -> Source:
        """Return a passage as it is shown."""
        changes: dict[str, Any] = {} if self.scores else {"scores": {}}
        if self.metadata is not None:
            changes["metadata"] = self.metadata.get(UUID(source.document_id), {})
        return source.model_copy(update=changes) if changes else source


async def showing(settings: search.SearchSettings, sources: Iterable[Source]) -> Showing:
    """Return how sources are shown. Raises DatabaseError."""
    if not settings.include_metadatas:
        return Showing(settings.include_scores)
    documents = {UUID(source.document_id) for source in sources}
    return Showing(settings.include_scores, await search.metadata_of(documents))
