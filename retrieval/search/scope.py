"""What a search may look at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from django.core.exceptions import EmptyResultSet

from retrieval.database import Statement
from retrieval.models import Collection as DocumentCollection

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

# Chunks of what is searched: the current version of each document.
SEARCHED = (
    "retrieval_chunk AS chunk"
    " JOIN retrieval_documentversion AS version ON version.id = chunk.version_id"
    " JOIN retrieval_document AS document ON document.current_version_id = version.id"
)


@dataclass(frozen=True)
class Scope:
    """Whose question it is, and the collections it is asked of; None is all that user may see."""

    user: User | AnonymousUser
    collections: tuple[UUID, ...] | None = None

    @cached_property
    def condition(self) -> Statement:
        """What may be found, as a condition in SQL on a row of SEARCHED."""
        collections = DocumentCollection.objects.visible_to(self.user).order_by()
        if self.collections is not None:
            collections = collections.filter(id__in=self.collections)
        try:
            visible, params = collections.values("id").query.sql_with_params()
        except EmptyResultSet:
            return Statement("false")
        return Statement(f"document.enabled AND document.collection_id IN ({visible})", params)

    def count(self, chunks: Collection[UUID]) -> Statement:
        """Return SQL for how many of these chunks may be found."""
        sql, params = self.condition
        return Statement(
            f"SELECT count(*) FROM {SEARCHED} WHERE chunk.id = ANY(%s) AND {sql}",
            [list(chunks), *params],
        )
