"""Taking documents in: files, texts, chunks and addresses; and reading them once more."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext
from ninja.errors import HttpError
from ninja.responses import Status

from chat.accounts.models import Scope
from chat.api import uploading
from chat.api.credentials import Request
from chat.api.native import library
from chat.api.native.callers import Uploader
from chat.api.native.document_schemas import (
    DocumentChange,
    DocumentDetail,
    Intake,
    TextDocument,
    UrlDocument,
    taken_out,
)
from chat.api.native.documents import router
from chat.api.native.idempotency import idempotent
from chat.api.refusing import ConflictError, FieldError, checked_metadata
from chat.client_messages import storable
from retrieval.audit.recording import record
from retrieval.ingestion import fetching, retrying
from retrieval.ingestion.archives import Taken
from retrieval.ingestion.incoming import UploadError
from retrieval.ingestion.uploads import split_path
from retrieval.models import ENDED, Stage

if TYPE_CHECKING:
    from retrieval.models import Collection

__all__ = ["router"]

logger = logging.getLogger(__name__)
WRITES = Uploader(Scope.DOCUMENTS_WRITE)

FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files", "collection"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                        },
                        "collection": {"type": "string", "description": "Its id or its name."},
                        "metadata": {
                            "type": "string",
                            "description": "A JSON object, of all of them.",
                        },
                        "path": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Where each file stands in a folder, in their order.",
                        },
                    },
                }
            }
        },
    }
}


@router.post(
    "",
    auth=WRITES,
    response={202: Intake},
    operation_id="uploadDocuments",
    summary="Upload files",
    openapi_extra=FORM,
)
@idempotent
def upload_documents(request: Request) -> Status[Intake]:
    """Take files in, those of a zip one by one; each is read by the worker."""
    if request.content_type != "multipart/form-data":
        raise HttpError(415, gettext("Send files as multipart/form-data."))
    received = uploading.receive(request)
    collection = _named(request, request.POST.get("collection", ""))
    metadata = _metadata(request.POST.get("metadata", ""))
    paths = request.POST.getlist("path")
    taken = [Taken(name, error=error) for name, error in received.refused]
    for position, file in enumerate(received.files):
        path = paths[position] if len(paths) == len(received.files) else file.name or ""
        taken += _take(request, collection, path, file, metadata)
    if not taken:
        raise FieldError(("body", "files"), gettext("Send at least one file."))
    return _told(request, taken)


@router.post(
    "text",
    auth=WRITES,
    response={202: Intake},
    operation_id="addText",
    summary="Add a text, or chunks",
)
@idempotent
def add_text(request: Request, new: TextDocument) -> Status[Intake]:
    """Take in a text as a document, or chunks that stay as they are given."""
    if (new.text is None) == (new.chunks is None):
        raise FieldError(("body", "text"), gettext("Send either “text” or “chunks”."))
    collection = uploading.target(request.user, new.collection)
    said: dict[str, Any] = {"metadata": checked_metadata(new.metadata), "id": new.id}
    if new.chunks is not None:
        upload = uploading.add_chunks(request.user, collection, new.name, new.chunks, **said)
    else:
        upload = uploading.add_text(request.user, collection, new.name, new.text or "", **said)
    return _told(request, [Taken(new.name, upload)])


@router.post(
    "url",
    auth=WRITES,
    response={202: Intake},
    operation_id="addUrl",
    summary="Add what is at an address",
)
@idempotent
def add_url(request: Request, new: UrlDocument) -> Status[Intake]:
    """Have the worker fetch a file or a page; the same address again is a new version."""
    collection = uploading.target(request.user, new.collection)
    metadata = checked_metadata(new.metadata)
    upload = fetching.add_url(collection, new.url, request.user, metadata=metadata)
    return _told(request, [Taken(new.url, upload)])


@router.patch(
    "{uuid:document_id}",
    auth=WRITES,
    response=DocumentDetail,
    operation_id="changeDocument",
    summary="Change a document",
)
def change_document(request: Request, document_id: UUID, change: DocumentChange) -> DocumentDetail:
    """Change its title or metadata, or whether it is searched."""
    found = uploading.changeable(request.user, document_id)
    changes = change.model_dump(exclude_none=True)
    if change.metadata is not None:
        changes["metadata"] = checked_metadata(change.metadata)
    for field, value in changes.items():
        setattr(found, field, value)
    with transaction.atomic():
        found.save(update_fields=list(changes))
        record(request.user, "document.changed", found, fields=sorted(changes))
    return library.detailed(request.user, library.document(request.user, found.pk))


@router.post(
    "{uuid:document_id}/retry",
    auth=WRITES,
    response={202: DocumentDetail},
    operation_id="retryDocument",
    summary="Read a document once more",
)
@idempotent
def retry_document(request: Request, document_id: UUID) -> Status[DocumentDetail]:
    """Try what failed again, or read a file that is ready anew, as a new version."""
    found = uploading.changeable(request.user, document_id)
    newest = found.versions.defer("text").order_by("-number").first()
    if newest is None or newest.stage not in ENDED:
        raise ConflictError(gettext("This document is being read."), "in_progress")
    if newest.stage == Stage.FAILED:
        retrying.retry(newest)
    else:
        retrying.reingest(found)
    return Status(202, library.detailed(request.user, found))


def _take(
    request: Request, collection: Collection, path: str, file: Any, metadata: dict[str, Any]
) -> list[Taken]:
    """Take a file in by itself: a bad one does not keep the others out."""
    folder, name = split_path(path)
    try:
        return list(
            uploading.add(request.user, collection, name, file, folder=folder, metadata=metadata)
        )
    except (OSError, IntegrityError):
        logger.exception("An upload could not be stored")
        message = gettext("This could not be stored. Try it again.")
        return [Taken(path, error=UploadError("not-stored", message))]


def _told(request: Request, taken: Sequence[Taken]) -> Status[Intake]:
    """Tell what became of the files. Raises UploadError where there is one, and it is refused."""
    if len(taken) == 1 and taken[0].error is not None:
        raise taken[0].error
    uploads = [each.upload for each in taken if each.upload is not None]
    documents = library.described(request.user, [each.document for each in uploads])
    return Status(202, Intake(items=[taken_out(each, documents) for each in taken]))


def _named(request: Request, collection: str) -> Collection:
    """Return the collection of a form, by its id or its name."""
    if not collection:
        raise FieldError(("body", "collection"), gettext("Name a collection."))
    try:
        which: UUID | str = UUID(collection)
    except ValueError:
        which = storable(collection)
    return uploading.target(request.user, which)


def _metadata(text: str) -> dict[str, Any]:
    """Return the metadata of a form. Raises FieldError."""
    try:
        said = json.loads(text) if text else {}
    except (ValueError, RecursionError) as error:
        raise FieldError(("body", "metadata"), gettext("This is not valid JSON.")) from error
    return checked_metadata(said)
