"""The page of the queue: what waits, runs and failed, how fast it goes, and when it will end."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from retrieval.admin_filters import error_name
from retrieval.admin_ledger import lasting
from retrieval.admin_managed import managed, managed_versions
from retrieval.admin_stages import stage_html
from retrieval.ingestion import queue as ingestion_queue
from retrieval.ingestion.retrying import failed_versions
from retrieval.ingestion.retrying import retry_failed as retry_failed_versions
from retrieval.models import ErrorClass

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin
    from django.http import HttpRequest, HttpResponse

    from retrieval.ingestion.queue import FailureGroup, QueuedVersion
    from retrieval.models import CollectionQuerySet

# Documents that are listed one by one.
LISTED = 25


def queue(request: HttpRequest, model_admin: ModelAdmin[Any]) -> HttpResponse:
    """Show the queue of the collections they manage; the page asks for itself again and again."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    collections = managed(request)
    summary = ingestion_queue.summary(collections)
    listed = [_row(each) for each in ingestion_queue.unfinished(LISTED, collections)]
    # Without a worker there is no end.
    left = summary.seconds_left if summary.workers else None
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Queue",
        "opts": model_admin.model._meta,
        "summary": summary,
        "running": [row for row in listed if row["queued"].running],
        "waiting": [row for row in listed if not row["queued"].running],
        "more": summary.unfinished - len(listed),
        "failures": [_failure(group) for group in ingestion_queue.failures(collections)],
        "left": lasting(timedelta(seconds=left)) if left is not None else "",
        "now": timezone.localtime(),
        "end": timezone.localtime() + timedelta(seconds=left) if left is not None else None,
        "may_add": model_admin.has_add_permission(request),
        "may_change": model_admin.has_change_permission(request),
    }
    return TemplateResponse(request, "admin/retrieval/document/queue.html", context)


@require_POST
def retry_all(request: HttpRequest, model_admin: ModelAdmin[Any]) -> HttpResponse:
    """Queue all of theirs again that failed, and show the queue."""
    if not model_admin.has_change_permission(request):
        raise PermissionDenied
    count = retry_failed_versions(managed_versions(request))
    text = "1 document is queued again." if count == 1 else f"{count:,} documents are queued again."
    messages.success(request, text)
    return redirect("admin:retrieval_document_queue")


def failed_count(collections: CollectionQuerySet) -> int:
    """Return how many documents' newest versions failed for good."""
    return failed_versions().filter(document__collection__in=collections).count()


def _row(queued: QueuedVersion) -> dict[str, Any]:
    next_try = queued.next_try
    return {
        "queued": queued,
        "stage": stage_html(queued.version, followed=False),
        "lasting": lasting(timezone.now() - queued.since),
        "tried_in": lasting(next_try - timezone.now()) if next_try else "",
    }


def _failure(group: FailureGroup) -> dict[str, Any]:
    known = group.error_class in ErrorClass.values
    return {
        "group": group,
        "lies_in": ErrorClass(group.error_class).label if known else "",
        "name": error_name(group.error_code) or "Unknown",
    }
