"""What clients send to the socket, and how questions come by any way: pure data, no I/O.

One discriminated union (`ClientMessage`), the other half of the contract in `chat/frames.py`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, TypeAdapter

QUESTION_MAX_CHARS = 20_000
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class BaseMessage(BaseModel):
    """What a client sends; htmx adds a HEADERS key, and unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore")


def storable(text: str) -> str:
    """Return the text without what PostgreSQL cannot store: NUL, and halves of characters."""
    return UNSTORABLE.sub("", text)


# Before its length is checked, which is that of the text then: behind a function it is of "items".
Storable = BeforeValidator(lambda text: storable(text) if isinstance(text, str) else text)
Stripped = BeforeValidator(lambda text: text.strip() if isinstance(text, str) else text)

Name = Annotated[str, StringConstraints(max_length=200), Storable]
AskId = Annotated[str, StringConstraints(max_length=64), Storable]
QuestionText = Annotated[
    str, StringConstraints(min_length=1, max_length=QUESTION_MAX_CHARS), Stripped, Storable
]


class Asking(BaseMessage):
    """What is asked, and of what."""

    text: QuestionText
    conversation: UUID | None = None
    assistant: Name | None = None
    collections: list[Name] | None = None
    settings: dict[str, Any] | None = None


class Ask(Asking):
    """Ask a question; the same `id` sent twice asks once."""

    type: Literal["ask"]
    id: AskId | None = None
    model: Name | None = None
    generation: dict[str, Any] | None = None


class Stop(BaseMessage):
    """Stop a run; with neither field, the newest active run of this socket."""

    type: Literal["stop"]
    run: UUID | None = None
    ask: Name | None = None


class Resume(BaseMessage):
    """Follow a run from the frame after number `after`."""

    type: Literal["resume"]
    run: UUID
    after: Annotated[int, Field(ge=0)] = 0


class Watch(BaseMessage):
    """Follow any run in a conversation, whoever asked."""

    type: Literal["watch"]
    conversation: UUID


class Prefetch(Asking):
    """Prepare an answer to what is being typed; starts nothing."""

    type: Literal["prefetch"]


class Ack(BaseMessage):
    """The highest frame number the client has taken in."""

    type: Literal["ack"]
    run: UUID
    seq: Annotated[int, Field(ge=0)]


class Ping(BaseMessage):
    """Ask whether the connection lives; `Pong` answers."""

    type: Literal["ping"]


ClientMessage = Annotated[
    Ask | Stop | Resume | Watch | Prefetch | Ack | Ping, Field(discriminator="type")
]
ClientMessageAdapter: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
