"""What LangGraph's clients send."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    model_validator,
)

from chat.api.langgraph.events import Mode
from chat.api.langgraph.messages import question
from chat.client_messages import UNSTORABLE, Ask
from chat.refusals import fault
from retrieval.backends.base import ChatMessage

MOST_LISTED = 1000
METADATA_CHARS = 20_000
# What of an agent's run there is not here; silence about it would be a surprise.
UNAVAILABLE = ("command", "webhook", "interrupt_before", "interrupt_after", "after_seconds")


def storable(value: dict[str, Any]) -> dict[str, Any]:
    """Return what can be kept as it is. Raises ValueError."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ValueError("This holds a number that JSON does not have.") from error
    if len(text) > METADATA_CHARS:
        raise ValueError(f"This is more than {METADATA_CHARS:,} characters.")
    if UNSTORABLE.search(text) or "\\u0000" in text:
        raise ValueError("This holds characters that no text may have.")
    return value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _or_empty(value: object) -> object:
    return {} if value is None else value


Metadata = Annotated[dict[str, Any], BeforeValidator(_or_empty), AfterValidator(storable)]
Modes = Annotated[list[Mode], BeforeValidator(_listed)]


Limit = Annotated[int, Field(ge=1, le=MOST_LISTED)]
Offset = Annotated[int, Field(ge=0, le=2**31)]


class Page(BaseModel):
    """A part of a listing."""

    limit: Limit = 10
    offset: Offset = 0
    select: list[str] | None = None
    sort_order: Literal["asc", "desc"] | None = None


class AssistantSearch(Page):
    """Which assistants are wanted."""

    metadata: Metadata = {}
    graph_id: str | None = None
    name: str | None = None
    sort_by: Literal["assistant_id", "graph_id", "name", "created_at", "updated_at"] | None = None


class ThreadSearch(Page):
    """Which threads are wanted."""

    metadata: Metadata = {}
    ids: list[UUID] | None = None
    status: Literal["idle", "busy", "interrupted", "error"] | None = None
    sort_by: Literal["thread_id", "status", "created_at", "updated_at", "state_updated_at"] = (
        "updated_at"
    )
    values: dict[str, Any] | None = None
    extract: dict[str, str] | None = None

    @model_validator(mode="after")
    def _has_only_what_there_is(self) -> Self:
        if self.values or self.extract:
            raise ValueError("Threads are not searched by their values; use metadata.")
        return self


class ThreadCreate(BaseModel):
    """A new thread."""

    thread_id: UUID | None = None
    metadata: Metadata = {}
    if_exists: Literal["raise", "do_nothing"] = "raise"
    supersteps: list[Any] | None = None
    ttl: Any = None

    @model_validator(mode="after")
    def _has_only_what_there_is(self) -> Self:
        if self.supersteps or self.ttl:
            raise ValueError("Threads begin empty, and are kept: no supersteps, no ttl.")
        return self


class ThreadPatch(BaseModel):
    """What is new of a thread's metadata."""

    metadata: Metadata = {}


class History(BaseModel):
    """Which states of a thread are wanted, the newest first."""

    limit: Limit = 10
    before: str | dict[str, Any] | None = None
    metadata: Metadata = {}
    select: list[str] | None = None

    @property
    def before_id(self) -> str | None:
        """The checkpoint before which those wanted are."""
        if not isinstance(self.before, dict):
            return self.before
        named = self.before.get("configurable") or self.before
        return str(named.get("checkpoint_id")) if isinstance(named, dict) else None


class Select(BaseModel):
    """Which fields are wanted."""

    select: list[str] = []


class StateAt(Select):
    """Which state of a thread is wanted."""

    checkpoint: dict[str, Any]


class RunSearch(Select):
    """Which runs are wanted."""

    limit: Limit = 10
    offset: Offset = 0
    status: Literal["pending", "running", "error", "success", "timeout", "interrupted"] | None = (
        None
    )


class Joining(BaseModel):
    """How a run is followed; the SDK sends an empty mode for none."""

    stream_mode: list[Literal[Mode, ""]] = []
    cancel_on_disconnect: bool = False

    @property
    def modes(self) -> list[Mode]:
        """The modes that are asked for."""
        return [mode for mode in self.stream_mode if mode]


class Cancelling(BaseModel):
    """How a run is stopped; what was asked is kept."""

    wait: bool = False
    action: Literal["interrupt"] = "interrupt"


class Chosen(BaseModel):
    """What a run's `context`, or `config.configurable`, says of the question; others' keys pass."""

    collections: Annotated[list[str], Field(min_length=1)] | None = None
    model: str | None = None
    settings: dict[str, Any] | None = None
    generation: dict[str, Any] | None = None


class Config(BaseModel):
    """A run's configuration."""

    configurable: Annotated[Chosen, BeforeValidator(_or_empty)] = Chosen()


class RunCreate(BaseModel):
    """A question, and on what terms it is asked."""

    assistant_id: str
    input: dict[str, Any] | None = None
    stream_mode: Modes = ["values"]
    multitask_strategy: Literal["reject", "enqueue", "interrupt"] | None = None
    on_disconnect: Literal["cancel", "continue"] | None = None
    on_completion: Literal["delete", "keep"] | None = None
    if_not_exists: Literal["create", "reject"] | None = None
    metadata: Metadata = {}
    config: Annotated[Config, BeforeValidator(_or_empty)] = Config()
    context: Annotated[Chosen, BeforeValidator(_or_empty)] = Chosen()
    checkpoint: dict[str, Any] | None = None
    checkpoint_id: str | None = None
    command: Any = None
    webhook: Any = None
    interrupt_before: Any = None
    interrupt_after: Any = None
    after_seconds: Any = None

    @model_validator(mode="after")
    def _has_only_what_there_is(self) -> Self:
        for field in UNAVAILABLE:
            if getattr(self, field):
                raise ValueError(f"{field} is not available: an assistant answers in one step.")
        self.asked()
        return self

    def asked(self) -> tuple[Ask, list[ChatMessage]]:
        """Return the question, and the turns before it. Raises ValueError."""
        if self.input is None or "messages" not in self.input:
            raise ValueError("input.messages: the question is missing.")
        text, history = question(self.input["messages"])
        said = {
            **self.config.configurable.model_dump(exclude_none=True),
            **self.context.model_dump(exclude_none=True),
        }
        try:
            return Ask(type="ask", text=text, **said), history
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ValueError(f"{where}: {fault(first)}") from error

    @property
    def goes_on_from(self) -> str | None:
        """The checkpoint that the run is to go on from, None if that is the newest."""
        named = (self.checkpoint or {}).get("checkpoint_id") or self.checkpoint_id
        return str(named) if named else None
