"""What is kept of documents that were replaced or deleted, and for how long."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, DateTimeField, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from retrieval.audit.recording import record
from retrieval.models import ENDED, Document, DocumentVersion, Stage

logger = logging.getLogger(__name__)

# Each returns a queryset of the ids of versions that something newer than a moment refers to, or
# anything if that is None: answers do, of which this package knows nothing.
cited_versions: list[Callable[[datetime | None], QuerySet[Any, Any]]] = []

OLD_VECTORS = """
DELETE FROM retrieval_chunkembedding AS vector
USING retrieval_chunk AS chunk, retrieval_documentversion AS version,
    retrieval_document AS document, retrieval_documentversion AS current
WHERE chunk.id = vector.chunk_id AND version.id = chunk.version_id
    AND document.id = version.document_id AND current.id = document.current_version_id
    AND version.number < current.number AND version.stage IN ('ready', 'failed')
"""
VECTORS_OF_DOCUMENTS = """
DELETE FROM retrieval_chunkembedding AS vector
USING retrieval_chunk AS chunk, retrieval_documentversion AS version
WHERE chunk.id = vector.chunk_id AND version.id = chunk.version_id
    AND version.document_id = ANY(%s)
"""


def delete(documents: QuerySet[Document]) -> int:
    """Take documents out of search at once, and delete their vectors; return how many.

    Text and files go now too, or after DELETED_DOCUMENTS_DAYS.
    """
    keys = list(documents.order_by().values_list("pk", flat=True))
    with transaction.atomic():
        # Whoever writes something of theirs is waited for, and writes no more afterwards.
        locked = Document.objects.select_for_update(of=("self",)).filter(pk__in=keys)
        found = list(locked.order_by("pk").values_list("pk", flat=True))
        Document.objects.filter(pk__in=found).update(
            deleted_at=timezone.now(), enabled=False, current_version=None
        )
        with connection.cursor() as cursor:
            cursor.execute(VECTORS_OF_DOCUMENTS, [found])
        gone = Document.with_deleted.filter(pk__in=found)
        for document in gone.only("pk", "title").iterator():
            record(None, "document.deleted", document)
        if not settings.DELETED_DOCUMENTS_DAYS:
            _purge(found)
    return len(found)


def enforce() -> None:
    """Let go of deleted documents, old versions and their vectors whose time is over."""
    expired = timezone.now() - timedelta(days=settings.DELETED_DOCUMENTS_DAYS)
    deleted = Document.with_deleted.filter(deleted_at__lte=expired)
    _purge(list(deleted.values_list("pk", flat=True)))
    with connection.cursor() as cursor:
        cursor.execute(OLD_VECTORS)
    versions = expired_versions()
    for version in versions.iterator():
        version.delete()
        logger.info("No longer kept: version %d of %s", version.number, version.document_id)


def expired_versions() -> QuerySet[DocumentVersion]:
    """Return the old versions that no setting keeps."""
    newer = DocumentVersion.objects.filter(
        document=OuterRef("document"), number__gt=OuterRef("number")
    ).order_by()
    between = newer.filter(number__lt=OuterRef("document__current_version__number"))
    replaced = newer.filter(stage=Stage.READY).order_by("number").values("finished_at")[:1]
    old = (
        DocumentVersion.objects.filter(
            stage__in=ENDED, number__lt=F("document__current_version__number")
        )
        .annotate(
            newer_ones=Coalesce(
                Subquery(
                    between.values("document").annotate(n=Count("pk")).values("n"),
                    output_field=IntegerField(),
                ),
                0,
            ),
            replaced_at=Subquery(replaced, output_field=DateTimeField()),
        )
        .filter(
            newer_ones__gte=settings.OLD_VERSIONS_KEPT,
            replaced_at__lte=timezone.now() - timedelta(days=settings.OLD_VERSIONS_DAYS),
        )
    )
    days = settings.CITED_VERSIONS_DAYS
    since = None if days is None else timezone.now() - timedelta(days=days)
    for cited in cited_versions:
        old = old.exclude(Q(pk__in=cited(since)))
    return old.only("document", "number", "file")


def _purge(documents: Sequence[uuid.UUID]) -> None:
    for document in Document.with_deleted.filter(pk__in=documents).iterator():
        document.delete()
