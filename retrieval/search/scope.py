"""What a search may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from retrieval.models import Chunk, ChunkQuerySet

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


@dataclass(frozen=True)
class Scope:
    """Whose question it is, and the collections it is asked of; None is all that user may see."""

    user: User | AnonymousUser
    collections: tuple[UUID, ...] | None = None

    def chunks(self) -> ChunkQuerySet:
        """Return the chunks that may be found; the restriction is part of the SQL."""
        chunks = Chunk.objects.visible_to(self.user).ready()
        if self.collections is None:
            return chunks
        return chunks.filter(version__document__collection__in=self.collections)
