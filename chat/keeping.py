"""Which versions of documents answers need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chat.models import Citation

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet


def cited_versions(since: datetime | None) -> QuerySet[Any, Any]:
    """Return the ids of the versions that answers cite, all of them or those given since then."""
    citations = Citation.objects.filter(version__isnull=False)
    if since is not None:
        citations = citations.filter(message__created_at__gt=since)
    return citations.order_by().values("version")
