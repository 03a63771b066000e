"""Documents: taken in, listed, changed, fetched and deleted."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from ninja import Router
from ninja.errors import HttpError

from chat.accounts.models import Scope
from chat.api import uploading
from chat.api.credentials import Caller, NotAllowedError, Request
from chat.api.r2r import creating, shapes, wire
from chat.api.r2r.matching import matching
from retrieval.audit.recording import record
from retrieval.ingestion.incoming import UploadError
from retrieval.models import Document, DocumentVersion
from retrieval.views import readable_by, sent

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.http.response import HttpResponseBase

router = Router()
READS, WRITES = Caller(Scope.DOCUMENTS_READ), Caller(Scope.DOCUMENTS_WRITE)
BYTES = "application/octet-stream"


@router.post("documents", auth=WRITES)
def create(request: Request) -> HttpResponse:
    """Take in a document; it is read, chunked and embedded afterwards."""
    try:
        taken = creating.create(request)
    except UploadError as error:
        if error.code == "exists":
            raise HttpError(409, error.message) from error
        raise
    message = gettext("The document is queued.")
    if taken.unchanged:
        message = gettext("The document has this content already.")
    about = {"message": message, "task_id": taken.version.pk, "document_id": taken.document.pk}
    return wire.results(about, status=202)


@router.get("documents", auth=READS)
def listing(request: Request) -> HttpResponse:
    """List the documents that whoever calls may see, the newest first."""
    found = uploading.visible(request.user)
    if wire.flag(request, "owner_only"):
        found = found.filter(uploaded_by=request.user)
    documents, total = wire.Page(request).of(found)
    return wire.results(documents_as_they_stand(documents), total=total)


# Before those of one document: it would be taken for an id.
@router.delete("documents/by-filter", auth=WRITES)
def delete_by_filter(request: Request) -> HttpResponse:
    """Delete the documents that a filter holds for; a filter there must be."""
    user = request.user
    found = matching(user, wire.object_of(request))
    if found and not uploading.delete(user, found):
        raise NotAllowedError(gettext("You may not delete these documents."))
    return wire.success()


@router.get("documents/{uuid:document_id}", auth=READS)
def retrieve(request: Request, document_id: UUID) -> HttpResponse:
    """Return a document."""
    return _answer(_visible(request, document_id))


@router.delete("documents/{uuid:document_id}", auth=WRITES)
def delete(request: Request, document_id: UUID) -> HttpResponse:
    """Delete a document."""
    user = request.user
    uploading.changeable(user, document_id, "delete_document")
    uploading.delete(user, [document_id])
    return wire.success()


@router.get("documents/{uuid:document_id}/download", auth=READS)
def download(request: Request, document_id: UUID) -> HttpResponseBase:
    """Return the bytes of a document's file."""
    document = _visible(request, document_id)
    versions = readable_by(request.user).filter(document=document).order_by("-number")
    version = versions.filter(current_of=document).first() or versions.first()
    if version is None:
        raise Http404
    response = sent(request, version, download=True)
    if "json" in response.headers.get("Content-Type", ""):
        response.headers["Content-Type"] = BYTES  # the SDK would read it
    return response


@router.patch("documents/{uuid:document_id}/metadata", auth=WRITES)
def append_metadata(request: Request, document_id: UUID) -> HttpResponse:
    """Set metadata over what is said of a document."""
    return _set_metadata(request, document_id, keep=True)


@router.put("documents/{uuid:document_id}/metadata", auth=WRITES)
def replace_metadata(request: Request, document_id: UUID) -> HttpResponse:
    """Set metadata in place of all that people said of a document."""
    return _set_metadata(request, document_id, keep=False)


def documents_as_they_stand(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """Return documents with the state of their newest versions."""
    found = list(documents)
    versions = (
        DocumentVersion.objects.filter(document__in=found)
        .order_by("document_id", "-number")
        .distinct("document_id")
        .defer("text", "page_starts", "chunk_starts")
    )
    newest = {version.document_id: version for version in versions}
    return [shapes.document(each, newest.get(each.pk)) for each in found]


def _set_metadata(request: Request, document_id: UUID, *, keep: bool) -> HttpResponse:
    said = wire.body_of(request)
    parts = said if isinstance(said, list) else [said]
    if not all(isinstance(part, dict) for part in parts):
        wire.refuse("body", gettext("must be a list of JSON objects"))
    together: dict[str, Any] = reduce(lambda one, other: {**one, **other}, parts, {})
    user = request.user
    uploading.changeable(user, document_id)
    with transaction.atomic():
        document = Document.objects.select_for_update().get(pk=document_id)
        before = document.metadata if keep else {}
        document.metadata = uploading.metadata_of({**before, **together})
        document.save(update_fields=["metadata"])
        record(user, "document.changed", document, fields=["metadata"])
    return _answer(document)


def _visible(request: Request, document_id: UUID) -> Document:
    return get_object_or_404(uploading.visible(request.user), pk=document_id)


def _answer(document: Document) -> HttpResponse:
    (shape,) = documents_as_they_stand([document])
    return wire.results(shape)
