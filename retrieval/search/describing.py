"""What is said of the documents that were found: their metadata."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from retrieval.database import fetch
from retrieval.search.filter_sql import METADATA_SQL
from retrieval.search.scope import SEARCHED_DOCUMENTS


async def metadata_of(documents: Collection[UUID]) -> dict[UUID, dict[str, Any]]:
    """Return the metadata of documents by their ids, as filters see it. Raises DatabaseError."""
    if not documents:
        return {}
    return dict(
        await fetch(
            f"SELECT document.id, {METADATA_SQL} FROM {SEARCHED_DOCUMENTS}"
            " WHERE document.id = ANY(%s)",
            [list(documents)],
        )
    )
