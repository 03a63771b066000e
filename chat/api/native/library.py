"""Documents and their versions as a person may see them, described for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from django.shortcuts import get_object_or_404

from chat.api import uploading
from chat.api.native.document_schemas import (
    DocumentDetail,
    DocumentOut,
    document_fields,
    stage_out,
)
from retrieval.models import Collection, Document, DocumentVersion, Stage

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


def document(user: User, key: UUID) -> Document:
    """Return a document that a person may find. Raises Http404."""
    return get_object_or_404(uploading.visible(user).select_related("uploaded_by"), pk=key)


def versions(user: User) -> QuerySet[DocumentVersion]:
    """Return the versions that a person may see: of what they manage also those not ready."""
    managed = Collection.objects.managed_by(user)
    return (
        DocumentVersion.objects.filter(document__in=uploading.visible(user).values("pk"))
        .filter(Q(stage=Stage.READY) | Q(document__collection__in=managed))
        .defer("text", "metadata", "chunk_starts")
    )


def version(user: User, found: Document, number: int | None) -> DocumentVersion:
    """Return a version by its number, or else the one that is searched, or the newest.

    Raises Http404.
    """
    seen = versions(user).filter(document=found)
    if number is not None:
        seen = seen.filter(number=number)
    elif found.current_version_id:
        seen = seen.filter(pk=found.current_version_id)
    chosen = seen.order_by("-number").first()
    if chosen is None:
        raise Http404
    return chosen


def described(user: User, documents: Iterable[Document]) -> dict[UUID, DocumentOut]:
    """Describe documents, by their ids."""
    every = list(documents)
    fields = _fields(user, every)
    return {each.pk: DocumentOut(**fields[each.pk]) for each in every}


def detailed(user: User, found: Document) -> DocumentDetail:
    """Describe a document with the ledger of its newest version."""
    fields = _fields(user, [found])[found.pk]
    stages = []
    if newest := fields["newest"]:
        kept = DocumentVersion(pk=newest.id).stages.order_by("started_at", "pk")
        stages = [stage_out(each) for each in kept]
    return DocumentDetail(**fields, stages=stages)


def _fields(user: User, documents: list[Document]) -> dict[UUID, dict[str, Any]]:
    keys = [each.pk for each in documents]
    seen = versions(user).filter(document__in=keys).order_by("document_id", "-number")
    newest = {each.document_id: each for each in seen.distinct("document_id")}
    searched = dict(
        DocumentVersion.objects.filter(current_of__in=keys).values_list("document_id", "number")
    )
    return {
        each.pk: document_fields(each, newest.get(each.pk), searched.get(each.pk))
        for each in documents
    }
