"""How long documents that were deleted or replaced are kept, and the ledger of ingestion."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

from retrieval.expiry import Kind, days
from retrieval.ingestion import retention
from retrieval.models import ENDED, Document, IngestStage

if TYPE_CHECKING:
    from django.db.models import QuerySet


def _deleted_until() -> datetime:
    return timezone.now() - timedelta(days=settings.DELETED_DOCUMENTS_DAYS)


def _deleted(until: datetime) -> QuerySet[Any]:
    return Document.with_deleted.filter(deleted_at__lte=until).order_by("pk")


def _one_by_one(rows: QuerySet[Any]) -> int:
    """Delete rows that hold texts and files without reading many of them at once."""
    keys = list(rows.values_list("pk", flat=True))
    for key in keys:
        rows.model._base_manager.filter(pk=key).delete()
    return len(keys)


def _stages(until: datetime) -> QuerySet[Any]:
    ended = IngestStage.objects.filter(ended_at__lt=until, version__stage__in=ENDED)
    return ended.order_by("pk")


KINDS = (
    Kind("deleted documents", _deleted_until, _deleted, _one_by_one),
    # Which versions are old is for more settings to say than how long.
    Kind("old versions", timezone.now, lambda _: retention.expired_versions(), _one_by_one),
    Kind("entries of the ingestion ledger", days("INGEST_LEDGER_DAYS"), _stages),
)
