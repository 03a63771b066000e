"""Finding documents: lists, one with its progress, its versions, chunks, text and file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Length, Substr
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema
from ninja.responses import Status

from chat.accounts.models import Scope
from chat.api import uploading
from chat.api.credentials import Request
from chat.api.native import library, progress
from chat.api.native.callers import Caller
from chat.api.native.document_schemas import (
    ChunkOut,
    CollectionRef,
    DocumentDetail,
    DocumentOut,
    State,
    TextOut,
    VersionOut,
    chunk_out,
    version_out,
)
from chat.api.native.paging import Page, Page_, page
from retrieval.ingestion import retention
from retrieval.models import ENDED, Document, DocumentVersion
from retrieval.models import Stage as Stages
from retrieval.views import readable_by, sent

if TYPE_CHECKING:
    from django.db.models import QuerySet

router = Router(tags=["documents"], auth=Caller(Scope.DOCUMENTS_READ))
Number = Annotated[int | None, Query(None, ge=1, le=2_000_000_000, description="Of a version.")]


class Wanted(Schema):
    """Which documents."""

    collection: CollectionRef | None = Field(
        None, description="Those of a collection, by its id or its name."
    )
    state: State | None = None
    name: str = Field("", max_length=255, description="The name of the file.")
    q: str = Field("", max_length=200, description="Words of the name or the title.")


@router.get("", response=Page[DocumentOut], operation_id="listDocuments", summary="List documents")
def list_documents(
    request: Request, paging: Page_, wanted: Annotated[Wanted, Query()]
) -> dict[str, Any]:
    """List those you may find, the newest first; of what you manage also those not ready."""
    described: dict[UUID, DocumentOut] = {}

    def prepare(found: Any) -> None:
        described.update(library.described(request.user, found))

    rows = _wanted(uploading.visible(request.user).select_related("uploaded_by"), wanted)
    return page(
        request, rows, paging, "-pk", shown=lambda each: described[each.pk], prepare=prepare
    )


def _wanted(rows: QuerySet[Document], wanted: Wanted) -> QuerySet[Document]:
    if isinstance(wanted.collection, UUID):
        rows = rows.filter(collection=wanted.collection)
    elif wanted.collection is not None:
        rows = rows.filter(collection__name=wanted.collection)
    if wanted.name:
        rows = rows.filter(name=wanted.name)
    for word in wanted.q.split():
        rows = rows.filter(Q(name__icontains=word) | Q(title__icontains=word))
    working = DocumentVersion.objects.exclude(stage__in=ENDED).values("document")
    match wanted.state:
        case "ready":
            rows = rows.filter(current_version__isnull=False)
        case "pending":
            rows = rows.filter(current_version=None, pk__in=working)
        case "failed":
            failed = DocumentVersion.objects.filter(stage=Stages.FAILED).values("document")
            rows = rows.filter(current_version=None, pk__in=failed).exclude(pk__in=working)
    return rows


@router.get(
    "{uuid:document_id}",
    response=DocumentDetail,
    operation_id="getDocument",
    summary="One document, waited for",
)
async def get_document(
    request: Request,
    document_id: UUID,
    wait: Annotated[
        float, Query(0, ge=0, le=60, description="Seconds to wait at most until it is ready.")
    ],
) -> DocumentDetail:
    """Return a document with its stages, at once or when its newest file has been read."""
    return await progress.waited_for(request, document_id, wait)


@router.get(
    "{uuid:document_id}/events",
    operation_id="followDocument",
    summary="Follow the ingestion of a document",
    response={200: str},
    openapi_extra={"x-stream": "DocumentDetail"},
)
async def follow_document(request: Request, document_id: UUID) -> HttpResponseBase:
    """Send the document whenever something has changed, as events `progress`; the last is `end`."""
    return await progress.events(request, document_id)


@router.get(
    "{uuid:document_id}/versions",
    response=Page[VersionOut],
    operation_id="listVersions",
    summary="The versions of a document",
)
def list_versions(request: Request, document_id: UUID, paging: Page_) -> dict[str, Any]:
    """List its versions, the newest first."""
    found = library.document(request.user, document_id)
    rows = library.versions(request.user).filter(document=found)
    return page(request, rows, paging, "-number", shown=version_out)


@router.get(
    "{uuid:document_id}/chunks",
    response=Page[ChunkOut],
    operation_id="listChunks",
    summary="The passages of a document",
)
def list_chunks(
    request: Request, document_id: UUID, paging: Page_, version: Number
) -> dict[str, Any]:
    """List the passages of the version that is searched, or of another one, in order."""
    found = library.document(request.user, document_id)
    chosen = library.version(request.user, found, version)
    rows = chosen.chunks.defer("fulltext")
    return page(request, rows, paging, "ordinal", shown=chunk_out)


@router.get(
    "{uuid:document_id}/text",
    response=TextOut,
    operation_id="getText",
    summary="The text of a document",
)
def get_text(
    request: Request,
    document_id: UUID,
    version: Number,
    offset: Annotated[int, Query(0, ge=0, le=2_000_000_000)],
    limit: Annotated[int, Query(100_000, ge=1, le=1_000_000)],
) -> TextOut:
    """Return a part of the extracted text, which chunks and quotes point into."""
    found = library.document(request.user, document_id)
    chosen = library.version(request.user, found, version)
    part, total = (
        DocumentVersion.objects.filter(pk=chosen.pk)
        .values_list(Substr("text", offset + 1, limit), Length("text"))
        .get()
    )
    return TextOut(version=chosen.number, text=part, offset=offset, total=total)


@router.get(
    "{uuid:document_id}/download",
    operation_id="downloadDocument",
    summary="The file of a document",
    response={200: bytes},
    openapi_extra={"x-binary": True},
)
def download_document(request: Request, document_id: UUID, version: Number) -> HttpResponseBase:
    """Send the file as it was uploaded; parts of it by `Range`."""
    found = library.document(request.user, document_id)
    key = library.version(request.user, found, version).pk
    return sent(request, get_object_or_404(readable_by(request.user), pk=key), download=True)


@router.delete(
    "{uuid:document_id}",
    response={204: None},
    auth=Caller(Scope.DOCUMENTS_WRITE),
    operation_id="deleteDocument",
    summary="Delete a document",
)
def delete_document(request: Request, document_id: UUID) -> Status[None]:
    """Take a document out of search at once; its text and files go, too."""
    found = uploading.changeable(request.user, document_id, "delete_document")
    retention.delete(Document.objects.filter(pk=found.pk))
    return Status(204, None)
