"""Messages as programs see them, with what they rest on."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ninja import Field, Schema

from chat import evidence
from chat.feedback import attach_feedback, own_feedback
from chat.frames import CitationData
from chat.models import Role, RunState
from chat.runstate import citation_data

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.models import Candidate, Feedback, Message, Run


class Problem(Schema):
    """Why an answer could not be given."""

    code: str
    message: str


class RunOut(Schema):
    """A question being answered, or how that ended."""

    id: UUID
    conversation: UUID
    question: UUID = Field(description="The message that asks.")
    answer: UUID = Field(description="The message that answers.")
    state: RunState
    finish_reason: str = Field(description="stop, length, cancelled or no_answer; empty before.")
    error: Problem | None
    model: str
    without_sources: bool
    grounding: str = Field(
        description="grounded, partly, ungrounded or no_sources; empty where it is not checked."
    )
    usage: dict[str, int]
    timings: dict[str, int]
    metadata: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None


class SourceOut(Schema):
    """A passage that was found for an answer; blank where you may no longer see its document."""

    rank: int
    index: int | None = Field(description="Its number in the prompt, as in `[1]`.")
    cited: bool
    chunk: UUID | None
    document: UUID | None
    title: str
    page: int | None
    snippet: str
    scores: dict[str, float]


class FeedbackOut(Schema):
    """What you said of an answer."""

    helpful: bool
    reason: str
    comment: str
    updated_at: datetime


class MessageOut(Schema):
    """A question or an answer."""

    id: UUID
    role: Role
    text: str
    created_at: datetime
    run: RunOut | None = Field(description="Of an answer.")
    citations: list[CitationData]
    sources: list[SourceOut] = Field(description="The cited ones first.")
    feedback: FeedbackOut | None


def messages(user: User, **wanted: Any) -> list[MessageOut]:
    """Return messages, oldest first, with what `user` may see of their evidence."""
    found = evidence.messages(user, **wanted)
    attach_feedback(found, user)
    return [_shown(each) for each in found]


def run_out(run: Run) -> RunOut:
    """Describe a run."""
    error = Problem(code=run.error_code, message=run.error_message) if run.error_code else None
    return RunOut(
        id=run.pk,
        conversation=run.conversation_id,
        question=run.question_id,
        answer=run.answer_id,
        state=RunState(run.state),
        finish_reason=run.finish_reason,
        error=error,
        model=run.model,
        without_sources=bool(run.without_sources),
        grounding=run.grounding,
        usage=run.usage,
        timings=run.timings,
        metadata=run.metadata,
        created_at=run.created_at,
        finished_at=run.finished_at,
    )


def feedback_out(given: Feedback) -> FeedbackOut:
    """Describe what somebody said of an answer."""
    return FeedbackOut(
        helpful=given.helpful,
        reason=given.reason,
        comment=given.comment,
        updated_at=given.updated_at,
    )


def _shown(message: Message) -> MessageOut:
    run: Run | None = getattr(message, "run", None)
    given = own_feedback(message)
    cited, others = evidence.sources(message)
    return MessageOut(
        id=message.pk,
        role=Role(message.role),
        text=message.text,
        created_at=message.created_at,
        run=run_out(run) if run else None,
        citations=[citation_data(each) for each in message.citations.all()],
        sources=[
            _source(chunk, cited=each.cited is not None)
            for each in (*cited, *others)
            for chunk in each.candidates
        ],
        feedback=feedback_out(given) if given else None,
    )


def _source(found: Candidate, *, cited: bool) -> SourceOut:
    return SourceOut(
        rank=found.rank,
        index=found.index,
        cited=cited,
        chunk=found.chunk_id if found.chunk else None,
        document=evidence.document_of(found),
        title=found.title,
        page=found.page,
        snippet=found.snippet,
        scores=found.scores,
    )
