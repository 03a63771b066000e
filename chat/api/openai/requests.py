"""What OpenAI's clients ask, and what of it is a question and its terms.

Parameters that are not here are accepted and change nothing, as they do with other servers.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from django.utils.translation import gettext
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from chat.api.openai import errors
from chat.client_messages import Ask, Storable
from chat.refusals import describe, fault
from retrieval.backends.base import ChatMessage

ModelName = Annotated[str, StringConstraints(min_length=1), Storable]
PartText = Annotated[str, Storable]
GENERATION = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed")
MOST_MESSAGES = 2000


def _joined(content: object) -> object:
    """Return the text of content that came in parts."""
    if content is None:  # an assistant's turn that only called tools
        return ""
    if not isinstance(content, list):
        return content
    texts = []
    for part in content:
        match part:
            case {"type": "text" | "input_text", "text": str(text)}:
                texts.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                texts.append(text)
            case _:
                message = gettext("Only text can be asked here.")
                raise PydanticCustomError("not_text", "{message}", {"message": message})
    return "\n".join(texts)


class Turn(BaseModel):
    """A message of the conversation as the client keeps it."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[PartText, BeforeValidator(_joined)] = ""


class StreamOptions(BaseModel):
    """What a stream holds beside the answer."""

    include_usage: bool | None = False


class ResponseFormat(BaseModel):
    """The form of the answer, which is always text."""

    type: Literal["text"]


class ChatRequest(BaseModel):
    """A request to `chat/completions`; the last two fields are none of OpenAI's."""

    model: ModelName
    messages: Annotated[list[Turn], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    temperature: float | None = None
    top_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    response_format: ResponseFormat | None = None
    modalities: list[Literal["text"]] | None = None
    collections: Annotated[list[UUID | ModelName], Field(min_length=1)] | None = None
    search_settings: dict[str, Any] | None = None

    @property
    def generation(self) -> dict[str, Any]:
        """How the answer is to be written, as far as it says."""
        limits = (self.max_completion_tokens, self.max_tokens)
        asked = {name: getattr(self, name) for name in GENERATION}
        asked["max_tokens"] = next((limit for limit in limits if limit is not None), None)
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def wants_usage(self) -> bool:
        """Whether a stream ends with the tokens that were used."""
        return bool(self.stream_options and self.stream_options.include_usage)


def parse(body: bytes) -> ChatRequest:
    """Return the request in a body. Raises ApiError that names the field."""
    try:
        return ChatRequest.model_validate_json(body)
    except ValidationError as error:
        raise errors.invalid(error) from error


def question(request: ChatRequest, assistant: str | None) -> tuple[Ask, list[ChatMessage]]:
    """Return the last message as the question, and the turns before it.

    What the client says as the system is not among them: who answers, and by which rules, is for
    the assistant's owner to say. Raises ApiError.
    """
    spoken = [
        (at, turn)
        for at, turn in enumerate(request.messages)
        if turn.role in ("user", "assistant") and (turn.content.strip() or turn.role == "user")
    ]
    if not spoken or spoken[-1][1].role != "user":
        raise errors.bad("messages", gettext("The last message has to be the user’s."))
    at, last = spoken.pop()
    history = [
        ChatMessage("user" if turn.role == "user" else "assistant", turn.content)
        for _, turn in spoken
    ]
    try:
        ask = Ask(
            type="ask",
            text=last.content,
            assistant=assistant,
            settings=request.search_settings,
            generation=request.generation or None,
        )
    except ValidationError as error:
        raise _of_question(error, at) from error
    return ask, history


def _of_question(error: ValidationError, at: int) -> errors.ApiError:
    first = error.errors(include_url=False)[0]
    field = str(first["loc"][0])
    if field != "text":
        return errors.bad(field, fault(first))
    code, message = describe(first["type"], field)
    return errors.bad(f"messages.{at}.content", message, errors.CODES.get(code, code))
