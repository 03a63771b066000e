"""Collections that documents are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Q
from django.shortcuts import get_object_or_404
from ninja import Router

from chat.accounts.models import Scope
from chat.api import uploading
from chat.api.credentials import Caller, Request
from chat.api.r2r import shapes, wire
from chat.api.r2r.documents import documents_as_they_stand
from chat.client_messages import storable
from retrieval.models import Collection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet
    from django.http import HttpResponse

router = Router(auth=Caller(Scope.DOCUMENTS_READ))


@router.get("collections")
def listing(request: Request) -> HttpResponse:
    """List the collections that whoever calls may search, by their names."""
    found = _visible(request)
    if wire.flag(request, "owner_only"):
        found = found.filter(pk__in=Collection.objects.managed_by(request.user))
    return _listed(request, found)


@router.get("collections/{uuid:collection_id}")
def retrieve(request: Request, collection_id: UUID) -> HttpResponse:
    """Return a collection."""
    return wire.results(_shape(get_object_or_404(_visible(request), pk=collection_id)))


@router.get("collections/name/{path:name}")
def retrieve_by_name(request: Request, name: str) -> HttpResponse:
    """Return the collection of a name."""
    return wire.results(_shape(get_object_or_404(_visible(request), name=storable(name))))


@router.get("collections/{uuid:collection_id}/documents")
def documents(request: Request, collection_id: UUID) -> HttpResponse:
    """List the documents in a collection."""
    get_object_or_404(_visible(request), pk=collection_id)
    found = uploading.visible(request.user).filter(collection=collection_id)
    page, total = wire.Page(request).of(found)
    return wire.results(documents_as_they_stand(page), total=total)


@router.get("documents/{uuid:document_id}/collections")
def of_document(request: Request, document_id: UUID) -> HttpResponse:
    """List the collections that a document is in, of which there is one."""
    document = get_object_or_404(uploading.visible(request.user), pk=document_id)
    return _listed(request, _visible(request).filter(pk=document.collection_id))


def _visible(request: Request) -> QuerySet[Any]:
    return Collection.objects.visible_to(request.user).annotate(
        document_count=Count(
            "documents", filter=Q(documents__deleted_at__isnull=True), distinct=True
        ),
        reader_count=Count("readers", distinct=True),
        manager_count=Count("managers", distinct=True),
    )


def _listed(request: Request, found: QuerySet[Any]) -> HttpResponse:
    page, total = wire.Page(request).of(found)
    return wire.results(list(_shapes(page)), total=total)


def _shapes(found: Iterable[Any]) -> Iterable[dict[str, Any]]:
    return map(_shape, found)


def _shape(found: Any) -> dict[str, Any]:
    people = found.reader_count + found.manager_count
    return shapes.collection(found, found.document_count, people)
