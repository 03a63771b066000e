"""The file of a document's version, for those who may read its collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.views import redirect_to_login
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from retrieval.audit.recording import record
from retrieval.file_response import file_response
from retrieval.models import Collection, DocumentVersion, Stage

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import AnonymousUser, User
    from django.http import HttpRequest, HttpResponseBase


@require_safe
def file(request: HttpRequest, version_id: UUID) -> HttpResponseBase:
    """Send a version's file; who may not have it is told that there is none."""
    version = readable_by(request.user).filter(pk=version_id).first()
    if version is None:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        raise Http404
    return sent(request, version, download="download" in request.GET)


def sent(request: HttpRequest, version: DocumentVersion, *, download: bool) -> HttpResponseBase:
    """Send the file of a version that may be opened, and record it. Raises Http404 without one."""
    if not version.file.storage.exists(str(version.file.name)):
        raise Http404
    response = file_response(request, version, download=download)
    if _is_begun(request, response):
        record(None, "file.downloaded", version.document, version=version.number)
    # Whether somebody may have it is asked each time.
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _is_begun(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether a file is sent from its beginning: what reads PDFs fetches many parts after it."""
    whole = response.status_code == 200
    first = response.headers.get("Content-Range", "").startswith("bytes 0-")
    return request.method == "GET" and (whole or first)


def readable_by(user: User | AnonymousUser) -> QuerySet[DocumentVersion]:
    """Return the versions whose files a person may open.

    They are those of the collections they may search, old ones too, because old answers cite
    them. What is disabled, or was never ready, is for those who manage the collection.
    """
    managed = Q(document__collection__in=Collection.objects.managed_by(user))
    return (
        DocumentVersion.objects.select_related("document")
        .defer("text", "page_starts")
        .exclude(file="")
        .filter(document__deleted_at__isnull=True)
        .filter(document__collection__in=Collection.objects.visible_to(user))
        .filter(Q(stage=Stage.READY, document__enabled=True) | managed)
    )
