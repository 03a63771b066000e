"""Documents for a program: taken in, found and deleted by the rules of the administration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.core.files.base import ContentFile
from django.db.models import Q
from django.http import Http404
from django.utils.translation import gettext

from chat.api.credentials import NotAllowedError
from chat.client_messages import storable
from retrieval.ingestion import given, retention
from retrieval.ingestion.archives import Taken, add_file
from retrieval.ingestion.incoming import UploadError, not_allowed, too_large
from retrieval.ingestion.metadata import MetadataError, checked
from retrieval.ingestion.upload_limits import LimitedUploadHandler, request_too_large
from retrieval.ingestion.uploads import Upload, add_document
from retrieval.models import Collection, Document

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.core.files import File
    from django.core.files.uploadedfile import UploadedFile
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from retrieval.models import CollectionQuerySet


@dataclass(frozen=True)
class Received:
    """The files of a request, which are on disk, and those that were refused as they came."""

    files: Sequence[UploadedFile[Any]]
    refused: Sequence[tuple[str, UploadError]]


def receive(request: HttpRequest) -> Received:
    """Return the files of a form of several parts; its other fields are in `request.POST`.

    Raises what Django does of a form that is too large, or none.
    """
    handlers = request.upload_handlers
    if not any(isinstance(each, LimitedUploadHandler) for each in handlers):
        request.upload_handlers = handlers = [LimitedUploadHandler(request)]
    files = [file for name in request.FILES for file in request.FILES.getlist(name)]
    limited = next(each for each in handlers if isinstance(each, LimitedUploadHandler))
    refused = [
        (name, not_allowed() if why == not_allowed().message else too_large())
        for name, why in limited.refused
    ]
    return Received(files, refused)


def read_body(request: HttpRequest) -> bytes:
    """Return a request's body, which may be as large as a file that is uploaded.

    Django's own limit is that of a form; a form that is read afterwards may be as large, too.
    Raises RequestTooLargeError.
    """
    if not hasattr(request, "_body"):
        body = request.read(settings.UPLOAD_MAX_BYTES + 1)
        if len(body) > settings.UPLOAD_MAX_BYTES:
            raise request_too_large()
        request._body = body
        request._stream = BytesIO(body)
    return request.body


def managed(user: User, permission: str) -> CollectionQuerySet:
    """Return the collections in which a person may do what the admin would let them.

    `permission` is one of Django's on documents or collections, such as `add_document`.
    """
    found = Collection.objects.managed_by(user)
    return found if user.has_perm(f"retrieval.{permission}") else found.none()


def target(user: User, collection: UUID | str, permission: str = "add_document") -> Collection:
    """Return a collection, by its id or its name, in which a person may do something.

    Raises Http404 for one that they may not search either, NotAllowedError.
    """
    which = Q(pk=collection) if isinstance(collection, UUID) else Q(name=collection)
    if found := managed(user, permission).filter(which).first():
        return found
    if Collection.objects.visible_to(user).filter(which).exists():
        raise NotAllowedError(gettext("You do not manage this collection."))
    raise Http404


def visible(user: User) -> QuerySet[Document]:
    """Return the documents that a person may find, and all in the collections they manage."""
    return Document.objects.filter(
        Q(enabled=True, current_version__isnull=False)
        | Q(collection__in=Collection.objects.managed_by(user)),
        collection__in=Collection.objects.visible_to(user),
    )


def changeable(user: User, document: UUID, permission: str = "change_document") -> Document:
    """Return a document that a person may change. Raises Http404, NotAllowedError."""
    found = visible(user).select_related("collection").filter(pk=document).first()
    if found is None:
        raise Http404
    if not managed(user, permission).filter(pk=found.collection_id).exists():
        raise NotAllowedError(gettext("You do not manage the collection of this document."))
    return found


def metadata_of(data: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is said of documents. Raises UploadError."""
    try:
        return checked(data or {})
    except MetadataError as error:
        raise UploadError("bad-metadata", str(error)) from error


def add(  # noqa: PLR0913 - a file has as many things said of it
    user: User,
    collection: Collection,
    name: str,
    file: File[bytes],
    *,
    folder: str = "",
    metadata: Mapping[str, Any] | None = None,
    unpack: bool = True,
) -> Iterator[Taken]:
    """Take a file in, or every file in it if it is an archive; yield what became of each.

    `collection` is one of `target`. Raises UploadError for metadata that cannot be stored.
    """
    said = metadata_of(metadata)
    return add_file(collection, name, file, user, folder=folder, metadata=said, unpack=unpack)


def add_one(  # noqa: PLR0913
    user: User,
    collection: Collection,
    name: str,
    file: File[bytes],
    *,
    metadata: Mapping[str, Any] | None = None,
    id: UUID | None = None,  # noqa: A002
) -> Upload:
    """Take a file in as one document, of that id if one is given. Raises UploadError."""
    return add_document(collection, name, file, user, metadata=metadata_of(metadata), id=id)


def add_text(  # noqa: PLR0913
    user: User,
    collection: Collection,
    name: str,
    text: str,
    *,
    metadata: Mapping[str, Any] | None = None,
    id: UUID | None = None,  # noqa: A002
) -> Upload:
    """Take a text in, as the file of that name. Raises UploadError."""
    kept = storable(text)
    if not kept.strip():
        raise UploadError("empty", gettext("This document has no text."))
    file = ContentFile(kept.encode(), name)
    return add_one(user, collection, name, file, metadata=metadata, id=id)


def add_chunks(  # noqa: PLR0913
    user: User,
    collection: Collection,
    name: str,
    chunks: Sequence[str],
    *,
    metadata: Mapping[str, Any] | None = None,
    id: UUID | None = None,  # noqa: A002
) -> Upload:
    """Take chunks in that are not to be cut anew, as one document. Raises UploadError."""
    content, starts = given.joined(chunks)
    said = metadata_of(metadata)
    file = ContentFile(content, name)
    return add_document(collection, name, file, user, metadata=said, id=id, chunk_starts=starts)


def delete(user: User, documents: Sequence[UUID]) -> int:
    """Delete those of the documents that a person may delete; return how many that were."""
    own = managed(user, "delete_document").order_by().values("pk")
    return retention.delete(Document.objects.filter(pk__in=documents, collection__in=own))
