"""Collections: those a person may search, and what they may change of them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from ninja import Field, Router, Schema
from ninja.responses import Status
from pydantic import StringConstraints

from chat.accounts.models import Scope
from chat.api import uploading
from chat.api.credentials import NotAllowedError, Request
from chat.api.native.callers import Caller
from chat.api.native.idempotency import idempotent
from chat.api.native.paging import Page, Page_, page
from chat.api.native.parsing import Body
from chat.api.refusing import ConflictError
from retrieval.admin_managed import let_manage
from retrieval.audit.recording import record
from retrieval.models import Collection, Visibility
from retrieval.models.collections import PUBLISH

if TYPE_CHECKING:
    from typing import Any

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

router = Router(tags=["collections"], auth=Caller())
WRITES = Caller(Scope.DOCUMENTS_WRITE)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class CollectionOut(Schema):
    """A set of documents."""

    id: UUID
    name: str
    description: str
    visibility: Visibility
    documents: int = Field(description="How many there are, ready or not.")
    ready: int = Field(description="How many of them can be searched.")
    may_manage: bool = Field(description="Whether you may add, change and delete its documents.")
    created_at: datetime


class NewCollection(Body):
    """What a new collection is to be."""

    name: Name = Field(examples=["Handbooks"])
    description: str = Field("", max_length=10_000)
    visibility: Visibility = Visibility.SIGNED_IN


class CollectionChange(Body):
    """What is to be different; what is left out stays."""

    name: Name | None = None
    description: str | None = Field(None, max_length=10_000)
    visibility: Visibility | None = None


@router.get(
    "", response=Page[CollectionOut], operation_id="listCollections", summary="List collections"
)
def list_collections(request: Request, paging: Page_) -> dict[str, Any]:
    """List those you may search, by name."""
    own = _managed(request.user)
    return page(request, _seen(request.user), paging, "name", shown=lambda each: _shown(each, own))


@router.get(
    "{uuid:collection_id}",
    response=CollectionOut,
    operation_id="getCollection",
    summary="One collection",
)
def get_collection(request: Request, collection_id: UUID) -> CollectionOut:
    """Return one that you may search."""
    return _one(request.user, collection_id)


@router.post(
    "",
    response={201: CollectionOut},
    auth=WRITES,
    operation_id="createCollection",
    summary="Make a collection",
)
@idempotent
def create_collection(request: Request, new: NewCollection) -> Status[CollectionOut]:
    """Make a collection, which you manage then."""
    user = request.user
    if not user.has_perm("retrieval.add_collection"):
        raise NotAllowedError(gettext("You may not make collections."))
    _check_visibility(user, new.visibility, None)
    with transaction.atomic():
        try:
            with transaction.atomic():
                made = Collection.objects.create(**new.model_dump())
        except IntegrityError as error:
            raise _taken(new.name) from error
        let_manage(user, made)
        record(user, "collection.added", made)
    return Status(201, _one(user, made.pk))


@router.patch(
    "{uuid:collection_id}",
    response=CollectionOut,
    auth=WRITES,
    operation_id="changeCollection",
    summary="Change a collection",
)
def change_collection(
    request: Request, collection_id: UUID, change: CollectionChange
) -> CollectionOut:
    """Change one that you manage; what it is open to counts at once."""
    user = request.user
    found = uploading.target(user, collection_id, "change_collection")
    changes = change.model_dump(exclude_none=True)
    if change.visibility:
        _check_visibility(user, change.visibility, found)
    for field, value in changes.items():
        setattr(found, field, value)
    try:
        with transaction.atomic():
            found.save(update_fields=list(changes))
            record(user, "collection.changed", found, fields=sorted(changes))
    except IntegrityError as error:
        raise _taken(found.name) from error
    return _one(user, found.pk)


@router.delete(
    "{uuid:collection_id}",
    response={204: None},
    auth=WRITES,
    operation_id="deleteCollection",
    summary="Delete a collection",
)
def delete_collection(request: Request, collection_id: UUID) -> Status[None]:
    """Delete one with all of its documents."""
    user = request.user
    found = uploading.target(user, collection_id, "delete_collection")
    if found.documents.exists() and not user.has_perm("retrieval.delete_document"):
        raise NotAllowedError(gettext("You may not delete the documents of this collection."))
    found.delete()
    return Status(204, None)


def _seen(user: User) -> QuerySet[Collection]:
    kept = Q(documents__deleted_at__isnull=True)
    return Collection.objects.visible_to(user).annotate(
        total=Count("documents", filter=kept, distinct=True),
        ready=Count(
            "documents", filter=kept & Q(documents__current_version__isnull=False), distinct=True
        ),
    )


def _managed(user: User) -> set[UUID]:
    return set(uploading.managed(user, "add_document").values_list("pk", flat=True))


def _one(user: User, collection: UUID) -> CollectionOut:
    return _shown(get_object_or_404(_seen(user), pk=collection), _managed(user))


def _shown(found: Any, managed: set[UUID]) -> CollectionOut:
    return CollectionOut(
        id=found.pk,
        name=found.name,
        description=found.description,
        visibility=Visibility(found.visibility),
        documents=found.total,
        ready=found.ready,
        may_manage=found.pk in managed,
        created_at=found.created_at,
    )


def _check_visibility(user: User, wanted: Visibility, before: Collection | None) -> None:
    """Raise NotAllowedError unless a collection may be as public as is wanted."""
    is_so = before is not None and before.visibility == wanted
    if wanted == Visibility.PUBLIC and not is_so and not user.has_perm(PUBLISH):
        raise NotAllowedError(gettext("You may not make a collection public."))


def _taken(name: str) -> ConflictError:
    message = gettext("There is a collection “{name}” already.").format(name=name)
    return ConflictError(message, "exists")
