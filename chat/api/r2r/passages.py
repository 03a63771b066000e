"""What is stored of passages that were found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from chat.api.r2r.results import Known, Result, results
from chat.api.r2r.search_settings import Wanted
from chat.api.r2r.wire import person_id
from chat.frames import Source
from retrieval.database import rows
from retrieval.models import Chunk
from retrieval.search import metadata_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User


async def described(user: User, wanted: Wanted, sources: Sequence[Source]) -> list[Result]:
    """Return passages as R2R's results, with what `user` may see of them. Raises DatabaseError."""
    chunks = [UUID(source.source_id) for source in sources if source.source_type == "chunk"]
    found = Chunk.objects.visible_to(user).filter(
        pk__in=chunks, version__document__deleted_at__isnull=True
    )
    stored = await rows(
        found.order_by().values_list(
            "pk",
            "text",
            "ordinal",
            "version__document__uploaded_by_id",
            "version__document__collection_id",
            "version__document_id",
        )
    )
    said = await metadata_of({document for *_, document in stored}) if wanted.metadatas else {}
    known = {
        str(chunk): Known(text, ordinal, person_id(owner), collection, said.get(document, {}))
        for chunk, text, ordinal, owner, collection, document in stored
    }
    return results(sources, known, scores=wanted.scores, metadatas=wanted.metadatas)
