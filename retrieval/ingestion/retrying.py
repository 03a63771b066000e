"""Trying again: what failed, one document or all, and what is ready but is to be read anew."""

from __future__ import annotations

from django.core.files import File
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery

from retrieval.audit.recording import record
from retrieval.ingestion.tasks import defer_ingestion
from retrieval.models import ENDED, Document, DocumentVersion, ErrorClass, Stage

# Errors that do not lie in what the stages before have made.
OUTSIDE = (ErrorClass.PROVIDER, ErrorClass.DATABASE)


def failed_versions() -> QuerySet[DocumentVersion]:
    """Return the documents' newest versions that failed for good, the latest first."""
    newest = DocumentVersion.objects.filter(document=OuterRef("document")).order_by("-number")
    return (
        DocumentVersion.objects.filter(
            stage=Stage.FAILED,
            pk=Subquery(newest.values("pk")[:1]),
            document__deleted_at__isnull=True,
        )
        .select_related("document__collection")
        .defer("text")
        .order_by("-finished_at")
    )


def retry(version: DocumentVersion) -> bool:
    """Queue a failed version again; return False if it has not failed (any more).

    It goes on where it failed if that was the provider's or the database's fault, otherwise it
    begins anew.
    """
    with transaction.atomic():
        failed = DocumentVersion.objects.select_for_update(of=("self",)).defer("text")
        found = failed.filter(
            pk=version.pk, stage=Stage.FAILED, document__deleted_at__isnull=True
        ).first()
        if found is None:
            return False
        found.stage = _stage_to_go_on(found)
        found.error_code = found.error_class = found.error_message = ""
        found.finished_at = None
        found.save(
            update_fields=["stage", "error_code", "error_class", "error_message", "finished_at"]
        )
        defer_ingestion(found)
        record(None, "document.retried", found.document, version=found.number)
    return True


def retry_failed(versions: QuerySet[DocumentVersion] | None = None) -> int:
    """Queue all that failed again, or those of `versions` that did; return how many."""
    chosen = failed_versions() if versions is None else failed_versions().filter(pk__in=versions)
    return sum(retry(version) for version in chosen.iterator())


def reingest(document: Document) -> DocumentVersion | None:
    """Read a document's newest file anew, as a new version; the old one is searched meanwhile.

    Return the version that is queued: one that waits or failed already is taken itself. Return
    None if the document has no file.
    """
    with transaction.atomic():
        Document.objects.select_for_update().get(pk=document.pk)
        newest = document.versions.defer("text").order_by("-number").first()
        if newest is None or newest.stage not in ENDED:
            return newest
        if newest.stage == Stage.FAILED:
            retry(newest)
            return newest
        return _copy(newest)


def _stage_to_go_on(version: DocumentVersion) -> Stage:
    if version.error_class in OUTSIDE:
        last = version.stages.order_by("-started_at", "-pk").first()
        if last is not None:
            return Stage(last.stage)
    return Stage.QUEUED


def _copy(old: DocumentVersion) -> DocumentVersion:
    version = DocumentVersion(
        document=old.document,
        number=old.number + 1,
        sha256=old.sha256,
        size=old.size,
        source_url=old.source_url,
    )
    with old.file.open("rb") as stream:
        version.file.save(old.document.name, File(stream), save=False)
    try:
        version.save(force_insert=True)
        defer_ingestion(version)
        record(None, "document.reingested", old.document, version=version.number)
    except BaseException:
        version.file.storage.delete(str(version.file.name))
        raise
    return version
