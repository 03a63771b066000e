"""The wire contract between a run and whoever follows it: pure data, no I/O.

Frames are one discriminated union (`Frame`), numbered 1, 2, 3 … within a run; what a client may
send is another (`chat/client_messages.py`). `docs/protocol.md` is checked against both.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

FinishReason = Literal["stop", "length", "cancelled", "no_answer"]
SourceType = Literal["chunk", "graph", "web"]
Support = Literal["supported", "partly", "unsupported"]
Grounded = Literal["grounded", "partly", "ungrounded", "no_sources"]


class Source(BaseModel):
    """A passage that was found; `index` is null when it is not in the prompt."""

    index: int | None
    source_type: SourceType = "chunk"
    source_id: str
    document_id: str
    title: str
    page: int | None = None
    heading: str = ""
    snippet: str
    scores: dict[str, float] = {}
    metadata: dict[str, Any] | None = Field(default=None, exclude_if=lambda value: value is None)
    """The document's, where the search settings ask for it; else it is not sent."""


class CitationData(BaseModel):
    """One marker `[index]` in the answer and the sentence that supports it.

    `span` is [start, end) in Unicode code points of the whole answer, around the marker; `place` is
    that of the quote in the text of its document's version. `support` is null until it is checked.
    """

    index: int
    source_type: SourceType = "chunk"
    source_id: str
    document_id: str
    title: str
    page: int | None = None
    quote: str
    place: tuple[int, int] | None = None
    span: tuple[int, int]
    support: Support | None = None


class CitationSupport(BaseModel):
    """How well the passage behind a marker supports its statement, and which sentence of it does.

    `citation` is the marker's position in the answer's list of citations: 0, 1, 2 …
    """

    citation: int
    support: Support
    score: float
    source_id: str
    document_id: str
    page: int | None = None
    quote: str
    place: tuple[int, int] | None = None


class SentenceSupport(BaseModel):
    """How well a sentence of the answer, at `span`, is supported by all that it cites."""

    span: tuple[int, int]
    support: Support
    citations: list[int]


class BaseFrame(BaseModel):
    """What every frame carries; `seq` is 0 and `run` null only for a refused request."""

    model_config = ConfigDict(extra="forbid")

    run: UUID | None = None
    seq: int = 0

    def numbered(self, run: UUID, seq: int) -> Self:
        """Return this frame as number `seq` of `run`."""
        return self.model_copy(update={"run": run, "seq": seq})

    def to_json(self) -> str:
        """Serialise for the wire."""
        return self.model_dump_json()


class Written(BaseModel):
    """What is searched for and was not typed.

    The `question` as it stands by itself, `queries` that put it in other words, or `passages` as
    an answer might have them.
    """

    kind: Literal["question", "queries", "passages"]
    texts: list[str]


class Status(BaseFrame):
    """A stage starts or ends; `written` is what came of `rewriting`."""

    type: Literal["status"] = "status"
    stage: str
    message: str
    elapsed_ms: int = 0
    counts: dict[str, int] = {}
    written: Written | None = None
    ask: str | None = None
    conversation: UUID | None = None
    question: UUID | None = None
    answer: UUID | None = None


class SearchResults(BaseFrame):
    """What retrieval found, once, before generation."""

    type: Literal["search_results"] = "search_results"
    results: list[Source]
    query: str
    retrieval_ms: int


class Thinking(BaseFrame):
    """Reasoning of a model that exposes it."""

    type: Literal["thinking"] = "thinking"
    text: str


class Token(BaseFrame):
    """A piece of the answer: a delta, never the whole."""

    type: Literal["token"] = "token"
    text: str


class Citation(BaseFrame, CitationData):
    """A marker that the token frame before it holds."""

    type: Literal["citation"] = "citation"
    is_new: bool
    source: Source | None = None


class Grounding(BaseFrame):
    """How well the answer is supported by what it cites."""

    type: Literal["grounding"] = "grounding"
    verdict: Grounded
    sentences: list[SentenceSupport] = []
    citations: list[CitationSupport] = []
    uncited: int = 0
    """How many sentences state something and cite nothing."""

    def applied_to(self, citations: list[CitationData]) -> list[CitationData]:
        """Return an answer's citations with their support and the sentences that were found."""
        found = {each.citation: each for each in self.citations}
        changed = {"support", "source_id", "page", "quote", "place"}
        return [
            citation.model_copy(update=found[number].model_dump(include=changed))
            if number in found
            else citation
            for number, citation in enumerate(citations)
        ]


class WarningFrame(BaseFrame):
    """Something went wrong and is being retried."""

    type: Literal["warning"] = "warning"
    code: str
    message: str
    retry: int = 0
    retry_in_ms: int = 0


class Error(BaseFrame):
    """Terminal; with `run` null it refuses a request and ends no run.

    `retry_in_ms` says when the same may succeed, 0 where that is not known.
    """

    type: Literal["error"] = "error"
    code: str
    message: str
    recoverable: bool
    retry_in_ms: int = 0
    ask: str | None = None


class Usage(BaseModel):
    """Tokens the provider charged for, where it says so."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Done(BaseFrame):
    """Terminal: the whole answer, equal to all token texts joined."""

    type: Literal["done"] = "done"
    message_id: UUID | None = None
    finish_reason: FinishReason
    answer: str
    citations: list[CitationData]
    usage: Usage = Usage()
    timings: dict[str, int] = {}
    without_sources: bool = False
    """The model answered from what it knows, where that is allowed and the documents do not."""


class Snapshot(BaseFrame):
    """Replaces all text the client has; its `seq` says up to which frame."""

    type: Literal["snapshot"] = "snapshot"
    text: str
    citations: list[CitationData]


class Pong(BaseFrame):
    """Answers `ping` on a socket; it is of no run, and so none of the frames of one."""

    type: Literal["pong"] = "pong"


Frame = Annotated[
    Status
    | SearchResults
    | Thinking
    | Token
    | Citation
    | Grounding
    | WarningFrame
    | Error
    | Done
    | Snapshot,
    Field(discriminator="type"),
]
FrameAdapter: TypeAdapter[Frame] = TypeAdapter(Frame)
TERMINAL = (Done, Error)


if __name__ == "__main__":
    import json
    import sys

    from chat.client_messages import ClientMessageAdapter

    schema = {"frames": FrameAdapter.json_schema(), "messages": ClientMessageAdapter.json_schema()}
    json.dump(schema, sys.stdout, indent=2)
