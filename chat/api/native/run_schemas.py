"""Questions and answers as programs send and get them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from ninja import Field
from pydantic import StringConstraints

from chat.api.native.answers import Problem, RunOut, run_out
from chat.api.native.document_schemas import CollectionRef
from chat.api.native.parsing import Body
from chat.api.native.search import Warned
from chat.client_messages import Ask, Name, QuestionText
from chat.frames import CitationData, Grounding, Source
from chat.terms import Terms
from retrieval.backends.base import ChatMessage

if TYPE_CHECKING:
    from chat.api.asking import Answered
    from chat.models import Run

AskId = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class Turn(Body):
    """A message of a conversation that the client keeps itself."""

    role: Literal["user", "assistant"]
    content: str = Field(max_length=100_000)


class RunIn(Body):
    """A question, of what it is asked, and how it is to be answered."""

    text: QuestionText = Field(examples=["How high is the tower of Lund?"])
    stream: bool = Field(True, description="Send frames as they come, or the answer as a whole.")
    id: AskId | None = Field(None, description="Yours: asked twice, it is answered once.")
    conversation: UUID | None = Field(None, description="A new one, if there is none.")
    assistant: Name | None = Field(None, description="The name of one; else the preferred one.")
    collections: list[CollectionRef] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="Names or ids of some that the assistant searches.",
    )
    model: Name | None = Field(None, description="If the assistant offers it.")
    settings: dict[str, Any] | None = Field(None, json_schema_extra={"x-schema": "SearchSettings"})
    generation: dict[str, Any] | None = Field(
        None, json_schema_extra={"x-schema": "GenerationSettings"}
    )
    history: list[Turn] = Field([], max_length=200, description="Earlier turns, not stored.")
    listed: bool = Field(True, description="Whether a new conversation is listed.")
    on_leave: Literal["grace", "stop", "finish"] = Field(
        "grace",
        description="What becomes of the answer when its last reader leaves: it is stopped after"
        " a while, or at once, or finished.",
    )
    multitask: Literal["reject", "enqueue", "interrupt"] | None = Field(
        None, description="What becomes of the question while the conversation is answering."
    )
    metadata: dict[str, Any] = Field({}, description="Kept with the run.")

    def ask(self, id_: str | None, collections: list[str]) -> Ask:
        """Return the question as runs take it."""
        return Ask(
            type="ask",
            text=self.text,
            id=id_,
            conversation=self.conversation,
            assistant=self.assistant,
            collections=collections or None,
            model=self.model,
            settings=self.settings,
            generation=self.generation,
        )

    def terms(self, metadata: dict[str, Any]) -> Terms:
        """Return on what terms it is asked."""
        return Terms(
            history=[ChatMessage(turn.role, turn.content) for turn in self.history],
            listed=self.listed,
            on_leave=self.on_leave,
            multitask=self.multitask,
            metadata=metadata,
        )


class AnswerOut(RunOut):
    """An answer as a whole."""

    text: str = Field(description="The answer; markers `[n]` are its citations.")
    citations: list[CitationData]
    sources: list[Source] = Field(description="The passages that are cited.")
    results: list[Source] = Field(description="All passages that were found, as ranked.")
    grounded: Grounding | None
    warnings: list[Warned]


def answer_out(run: Run, answered: Answered) -> AnswerOut:
    """Describe an answer that has ended, by the frames that told of it."""
    fields = run_out(run).model_dump()
    done, error = answered.done, answered.error
    if done is not None:
        fields |= {
            "state": "cancelled" if done.finish_reason == "cancelled" else "completed",
            "finish_reason": done.finish_reason,
            "usage": done.usage.model_dump(),
            "timings": done.timings,
            "without_sources": done.without_sources,
        }
    elif error is not None:
        state = "interrupted" if error.code == "interrupted" else "failed"
        problem = Problem(code=error.code, message=error.message)
        fields |= {"state": state, "error": problem}
    if answered.grounding is not None:
        fields["grounding"] = answered.grounding.verdict
    own = {*CitationData.model_fields}
    told = [CitationData(**each.model_dump(include=own)) for each in answered.citations]
    return AnswerOut(
        **fields,
        text=answered.text,
        citations=done.citations if done is not None else told,
        sources=answered.sources,
        results=answered.search_results,
        grounded=answered.grounding,
        warnings=[Warned(code=each.code, message=each.message) for each in answered.warnings],
    )
