"""Chunks of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from ninja import Router

from chat.accounts.models import Scope
from chat.api import uploading
from chat.api.credentials import Caller, Request
from chat.api.r2r import shapes, wire
from retrieval.ingestion import spaces
from retrieval.models import Chunk, ChunkEmbedding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet
    from django.http import HttpResponse

router = Router(auth=Caller(Scope.DOCUMENTS_READ))


@router.get("documents/{uuid:document_id}/chunks")
def of_document(request: Request, document_id: UUID) -> HttpResponse:
    """List the chunks of a document in their order."""
    document = get_object_or_404(uploading.visible(request.user), pk=document_id)
    found = _readable(request).filter(version__current_of=document).order_by("ordinal")
    return _listed(request, found)


@router.get("chunks")
def listing(request: Request) -> HttpResponse:
    """List the chunks of all documents that whoever calls may see."""
    return _listed(request, _readable(request).order_by("version_id", "ordinal"))


@router.get("chunks/{uuid:chunk_id}")
def retrieve(request: Request, chunk_id: UUID) -> HttpResponse:
    """Return a chunk."""
    return wire.results(shapes.chunk(get_object_or_404(_readable(request), pk=chunk_id)))


def _readable(request: Request) -> QuerySet[Chunk]:
    """Return the chunks of current versions of the documents that whoever calls may see."""
    documents = uploading.visible(request.user).order_by().values("pk")
    return (
        Chunk.objects.filter(version__current_of__in=documents)
        .select_related("version__document")
        .defer("fulltext", "version__text", "version__page_starts", "version__chunk_starts")
    )


def _listed(request: Request, found: QuerySet[Chunk]) -> HttpResponse:
    chunks, total = wire.Page(request).of(found)
    vectors = _vectors(chunks) if wire.flag(request, "include_vectors") else {}
    return wire.results([shapes.chunk(each, vectors.get(each.pk)) for each in chunks], total=total)


def _vectors(chunks: Sequence[Chunk]) -> dict[Any, list[float]]:
    """Return the chunks' vectors in the space that is searched."""
    found = ChunkEmbedding.objects.filter(chunk__in=chunks, space=spaces.current_space())
    return {
        chunk: [float(number) for number in vector]
        for chunk, vector in found.values_list("chunk_id", "embedding")
    }
