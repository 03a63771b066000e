"""Documents as programs see them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import StringConstraints

from chat.api.native.parsing import Body
from retrieval.models import Outcome, Stage

if TYPE_CHECKING:
    from retrieval.ingestion.archives import Taken
    from retrieval.models import Chunk, Document, DocumentVersion, IngestStage

State = Literal["pending", "ready", "failed"]
CollectionName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
# An id where it looks like one.
CollectionRef = Annotated[UUID | CollectionName, Field(union_mode="left_to_right")]
FileName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
Metadata = dict[str, Any]


class Failure(Schema):
    """Why a file could not be taken in, or not be read."""

    code: str
    message: str


class StageOut(Schema):
    """A try at a stage of the ingestion."""

    stage: Stage
    attempt: int
    outcome: Outcome
    started_at: datetime
    ended_at: datetime | None
    counts: dict[str, int]
    message: str


class VersionOut(Schema):
    """A file of a document, and how far its ingestion is."""

    id: UUID
    number: int
    stage: Stage
    size: int = Field(description="Bytes.")
    sha256: str
    media_type: str
    language: str
    title: str = Field(description="As the file itself says.")
    pages: int | None
    chunks: int
    embedded: int = Field(description="How many of the chunks are embedded already.")
    source_url: str
    error: Failure | None
    created_at: datetime
    finished_at: datetime | None


class DocumentOut(Schema):
    """A document; what is searched is its newest version that is ready."""

    id: UUID
    collection: UUID
    name: str
    title: str
    state: State = Field(
        description="ready: it is searched. pending: it will be. failed: the newest file is not"
        " readable, and there is none before it."
    )
    enabled: bool
    metadata: Metadata
    uploaded_by: str | None
    created_at: datetime
    newest: VersionOut | None = Field(description="The version that was uploaded last.")
    searched: int | None = Field(description="The number of the version that is searched.")


class DocumentDetail(DocumentOut):
    """A document with what was done for its newest version."""

    stages: list[StageOut]


class TakenOut(Schema):
    """What became of a file: a document, or an error."""

    path: str
    document: DocumentOut | None = None
    unchanged: bool = Field(False, description="The document has these bytes already.")
    error: Failure | None = None


class Intake(Schema):
    """What became of each file; those of a zip are listed one by one."""

    items: list[TakenOut]


class TextDocument(Body):
    """A document from a text, or from chunks that are not to be cut anew."""

    collection: CollectionRef = Field(description="Its id or its name.")
    name: FileName = Field(examples=["notes.md"], description="As of a file; .md is Markdown.")
    text: str | None = None
    chunks: list[str] | None = None
    metadata: Metadata = Field({})
    id: UUID | None = Field(None, description="Its id, if you want to choose it.")


class UrlDocument(Body):
    """A document from an address, which the worker fetches."""

    collection: CollectionRef = Field(description="Its id or its name.")
    url: str = Field(max_length=2000, examples=["https://example.org/handbook.pdf"])
    metadata: Metadata = Field({})


class DocumentChange(Body):
    """What is to be different; what is left out stays."""

    title: (
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
        | None
    ) = None
    enabled: bool | None = None
    metadata: Metadata | None = Field(None, description="In place of what is there.")


class ChunkOut(Schema):
    """A passage; `start` and `end` are code points of the version's text."""

    id: UUID
    ordinal: int
    text: str
    heading: list[str]
    page: int | None
    start: int
    end: int


class TextOut(Schema):
    """A part of a version's text."""

    version: int
    text: str
    offset: int
    total: int = Field(description="Code points of the whole text.")


def version_out(version: DocumentVersion) -> VersionOut:
    """Describe a version."""
    error = None
    if version.stage == "failed":
        error = Failure(code=version.error_code, message=version.error_message)
    return VersionOut(
        id=version.pk,
        number=version.number,
        stage=Stage(version.stage),
        size=version.size,
        sha256=version.sha256,
        media_type=version.media_type,
        language=version.language,
        title=version.title,
        pages=version.page_count,
        chunks=version.chunk_count,
        embedded=version.embedded_count,
        source_url=version.source_url,
        error=error,
        created_at=version.created_at,
        finished_at=version.finished_at,
    )


def document_fields(
    document: Document, newest: DocumentVersion | None, searched: int | None
) -> dict[str, Any]:
    """Return the fields of DocumentOut."""
    failed = newest is not None and newest.stage == "failed"
    state: State = "ready" if searched is not None else "failed" if failed else "pending"
    return {
        "id": document.pk,
        "collection": document.collection_id,
        "name": document.name,
        "title": document.title,
        "state": state,
        "enabled": document.enabled,
        "metadata": document.metadata,
        "uploaded_by": document.uploaded_by.get_username() if document.uploaded_by else None,
        "created_at": document.created_at,
        "newest": version_out(newest) if newest else None,
        "searched": searched,
    }


def stage_out(stage: IngestStage) -> StageOut:
    """Describe a try at a stage."""
    return StageOut(
        stage=Stage(stage.stage),
        attempt=stage.attempt,
        outcome=Outcome(stage.outcome),
        started_at=stage.started_at,
        ended_at=stage.ended_at,
        counts={name: int(count) for name, count in stage.counts.items()},
        message=stage.message,
    )


def chunk_out(chunk: Chunk) -> ChunkOut:
    """Describe a chunk."""
    return ChunkOut(
        id=chunk.pk,
        ordinal=chunk.ordinal,
        text=chunk.text,
        heading=chunk.heading_path,
        page=chunk.page_start,
        start=chunk.char_start,
        end=chunk.char_end,
    )


def taken_out(taken: Taken, documents: dict[UUID, DocumentOut]) -> TakenOut:
    """Describe what became of a file."""
    if taken.error is not None:
        error = Failure(code=taken.error.code, message=taken.error.message)
        return TakenOut(path=taken.path, unchanged=False, error=error)
    assert taken.upload is not None  # noqa: S101 - either of them is there
    return TakenOut(
        path=taken.path,
        document=documents[taken.upload.document.pk],
        unchanged=taken.upload.unchanged,
    )
