"""Documents, chunks, collections and conversations as R2R has them: pure data."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from chat.api.r2r.wire import person_id
from retrieval.models import Chunk, Collection, Document, DocumentVersion, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from chat.models import Conversation, Message

Shape = dict[str, Any]

# The SDK knows no others, and one that it does not know breaks a whole listing.
DOCUMENT_TYPES = {
    "bmp", "css", "csv", "doc", "docx", "eml", "epub", "gif", "heic", "htm", "html", "jpeg", "jpg",
    "js", "json", "md", "mp3", "msg", "odt", "org", "p7s", "pdf", "png", "ppt", "pptx", "py", "rst",
    "rtf", "svg", "tiff", "ts", "tsv", "txt", "xls", "xlsx",
}  # fmt: skip
OTHER_TYPE = "txt"
STATUSES = {
    Stage.QUEUED: "pending",
    Stage.FETCHING: "parsing",
    Stage.EXTRACTING: "parsing",
    Stage.CHUNKING: "chunking",
    Stage.EMBEDDING: "embedding",
    Stage.FINISHING: "storing",
    Stage.READY: "success",
    Stage.FAILED: "failed",
}
# There are no graphs here.
NO_GRAPH = "pending"


def document(found: Document, newest: DocumentVersion | None) -> Shape:
    """Return a document, with the state of its newest version."""
    said = {**newest.metadata, **found.metadata} if newest else {**found.metadata}
    if newest and newest.stage == Stage.FAILED:
        said["failure"] = newest.error_message
    return {
        "id": found.pk,
        "collection_ids": [found.collection_id],
        "owner_id": person_id(found.uploaded_by_id),
        "document_type": document_type(found.name),
        "metadata": said,
        "title": found.title,
        "version": str(newest.number if newest else 0),
        "size_in_bytes": newest.size if newest else None,
        "ingestion_status": STATUSES[Stage(newest.stage)] if newest else STATUSES[Stage.QUEUED],
        "extraction_status": NO_GRAPH,
        "created_at": found.created_at,
        "updated_at": (newest and (newest.finished_at or newest.created_at)) or found.created_at,
        "total_tokens": None,
    }


def document_type(name: str) -> str:
    """Return the kind of file that a name says, of those R2R knows."""
    suffix = PurePath(name).suffix.lower().lstrip(".")
    return suffix if suffix in DOCUMENT_TYPES else OTHER_TYPE


def chunk(found: Chunk, vector: Sequence[float] | None = None) -> Shape:
    """Return a chunk of a document, which is loaded with it."""
    of = found.version.document
    said: Shape = {
        **found.version.metadata,
        **of.metadata,
        "title": of.title,
        "chunk_order": found.ordinal,
    }
    if found.page_start is not None:
        said["page_number"] = found.page_start
    return {
        "id": found.pk,
        "document_id": of.pk,
        "owner_id": person_id(of.uploaded_by_id),
        "collection_ids": [of.collection_id],
        "text": found.text,
        "metadata": said,
        "vector": vector,
    }


def collection(found: Collection, documents: int, people: int) -> Shape:
    """Return a collection with how many documents are in it, and people named for it."""
    return {
        "id": found.pk,
        "owner_id": None,
        "name": found.name,
        "description": found.description,
        "graph_cluster_status": NO_GRAPH,
        "graph_sync_status": NO_GRAPH,
        "created_at": found.created_at,
        "updated_at": found.created_at,
        "user_count": people,
        "document_count": documents,
    }


def conversation(found: Conversation) -> Shape:
    """Return a conversation without its messages."""
    return {
        "id": found.pk,
        "created_at": found.created_at,
        "user_id": person_id(found.user_id),
        "name": found.title or None,
    }


def message(found: Message) -> Shape:
    """Return a message of a conversation, an answer with what it cites."""
    cited = [
        {
            "id": str(each.index),
            "span": {"start": each.span_start, "end": each.span_end},
            "chunk_id": each.chunk_id,
            "title": each.title,
            "page_number": each.page,
            "quote": each.quote,
        }
        for each in found.citations.all()
    ]
    return {
        "id": found.pk,
        "message": {"role": found.role, "content": found.text},
        "metadata": {"citations": cited} if cited else {},
    }


def user(found: User, collections: Sequence[Any]) -> Shape:
    """Return an account, with the collections that it may search."""
    return {
        "id": person_id(found.pk),
        "email": found.email or found.username,
        "name": found.get_full_name() or found.username,
        "is_active": found.is_active,
        "is_superuser": found.is_superuser,
        "is_verified": True,
        "created_at": found.date_joined,
        "updated_at": found.date_joined,
        "collection_ids": list(collections),
    }
