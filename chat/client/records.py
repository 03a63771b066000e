"""What clients return: documents, passages, conversations and answers, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict

from chat.client.errors import DocumentFailedError
from chat.frames import CitationData, FinishReason, Source


def _to_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


# As exact as JSON has it, wherever it comes from.
Moment = Annotated[datetime, AfterValidator(_to_milliseconds)]


class Record(BaseModel):
    """Data of the site; fields that a newer site adds are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Failure(Record):
    """Why a file could not be read."""

    code: str
    message: str


class Version(Record):
    """A file of a document, and how far its ingestion is."""

    number: int
    stage: str
    chunks: int
    error: Failure | None = None


class Document(Record):
    """A document; it is found while its `state` is `ready`, whatever becomes of a newer file."""

    id: UUID
    collection: UUID
    name: str
    title: str
    state: Literal["pending", "ready", "failed"]
    metadata: dict[str, Any]
    created_at: Moment
    newest: Version | None

    @property
    def has_ended(self) -> bool:
        """Whether nothing more is done to its newest file."""
        return self.newest is None or self.newest.stage in ("ready", "failed")

    def checked(self) -> Self:
        """Return it. Raises DocumentFailedError if its newest file could not be read."""
        if self.newest is not None and self.newest.error is not None:
            error = self.newest.error
            message = f"{self.name}: {error.message}"
            raise DocumentFailedError(message, code=error.code, document_id=str(self.id))
        return self


class Passage(Record):
    """A passage that a search found; of the scores, by stage, high is good."""

    id: UUID
    document: UUID
    title: str
    text: str
    heading: list[str]
    page: int | None
    scores: dict[str, float] | None
    metadata: dict[str, Any] | None


class Message(Record):
    """A question or an answer."""

    id: UUID
    role: Literal["user", "assistant"]
    text: str
    created_at: Moment
    citations: list[CitationData]

    def to_event(self) -> dict[str, Any]:
        """Return it as `stream` has it."""
        kind = "human" if self.role == "user" else "ai"
        found: dict[str, Any] = {"type": kind, "content": self.text, "id": str(self.id)}
        if self.citations:
            cited = [citation.model_dump(mode="json") for citation in self.citations]
            found["additional_kwargs"] = {"citations": cited}
        return found


class Conversation(Record):
    """A conversation; where many are listed, without the messages."""

    id: UUID
    title: str
    metadata: dict[str, Any]
    created_at: Moment
    updated_at: Moment
    messages: list[Message] = []


@dataclass
class Answer:
    """An answer that has ended; `sources` are all passages that were found for it."""

    text: str = ""
    citations: Sequence[CitationData] = ()
    sources: Sequence[Source] = ()
    finish_reason: FinishReason = "stop"
    thread_id: str = ""
    run_id: str = ""
