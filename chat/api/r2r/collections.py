"""Collections that documents are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Q
from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Router

from chat.accounts.models import Scope
from chat.api import uploading
from chat.api.credentials import Caller
from chat.api.r2r import shapes, wire
from chat.api.r2r.documents import documents_as_they_stand
from chat.client_messages import storable
from retrieval.models import Collection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

router = Router(auth=Caller(Scope.DOCUMENTS_READ))


@router.get("collections")
def listing(request: HttpRequest) -> HttpResponse:
    """List the collections that whoever calls may search, by their names."""
    found = _visible(request)
    if wire.flag(request, "owner_only"):
        found = found.filter(pk__in=Collection.objects.managed_by(wire.caller(request)))
    return _listed(request, found)


@router.get("collections/{uuid:collection_id}")
def retrieve(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    """Return a collection."""
    return wire.results(_shape(get_object_or_404(_visible(request), pk=collection_id)))


@router.get("collections/name/{path:name}")
def retrieve_by_name(request: HttpRequest, name: str) -> HttpResponse:
    """Return the collection of a name."""
    return wire.results(_shape(get_object_or_404(_visible(request), name=storable(name))))


@router.get("collections/{uuid:collection_id}/documents")
def documents(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    """List the documents in a collection."""
    get_object_or_404(_visible(request), pk=collection_id)
    found = uploading.visible(wire.caller(request)).filter(collection=collection_id)
    page, total = wire.Page(request).of(found)
    return wire.results(documents_as_they_stand(page), total=total)


@router.get("documents/{uuid:document_id}/collections")
def of_document(request: HttpRequest, document_id: UUID) -> HttpResponse:
    """List the collections that a document is in, of which there is one."""
    document = uploading.visible(wire.caller(request)).filter(pk=document_id).first()
    if document is None:
        raise Http404
    return _listed(request, _visible(request).filter(pk=document.collection_id))


def _visible(request: HttpRequest) -> QuerySet[Any]:
    return Collection.objects.visible_to(wire.caller(request)).annotate(
        document_count=Count(
            "documents", filter=Q(documents__deleted_at__isnull=True), distinct=True
        ),
        reader_count=Count("readers", distinct=True),
        manager_count=Count("managers", distinct=True),
    )


def _listed(request: HttpRequest, found: QuerySet[Any]) -> HttpResponse:
    page, total = wire.Page(request).of(found)
    return wire.results(list(_shapes(page)), total=total)


def _shapes(found: Iterable[Any]) -> Iterable[dict[str, Any]]:
    return map(_shape, found)


def _shape(found: Any) -> dict[str, Any]:
    people = found.reader_count + found.manager_count
    return shapes.collection(found, found.document_count, people)
