"""Messages in LangGraph's words: what clients send, and what they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chat.client_messages import QUESTION_MAX_CHARS, storable
from chat.frames import CitationData, Done
from retrieval.backends.base import ChatMessage

Message = dict[str, Any]

# By their type, or as OpenAI calls it. The system counts as the user: it says nothing above ours.
USER = ("human", "user", "system", "developer")
ASSISTANT = ("ai", "assistant", "AIMessageChunk")
# What else a client may have kept, which is not for the model.
OTHER = ("tool", "function")


class MessagesError(ValueError):
    """Messages that ask nothing; its text says where they are wrong."""


def human(message: object, text: str) -> Message:
    """Return a question."""
    return _message("human", message, text)


def ai(message: object, text: str, citations: Sequence[CitationData]) -> Message:
    """Return what there is of an answer."""
    return {**_message("ai", message, text), **_of_models(), "additional_kwargs": _cited(citations)}


def answer(message: object, done: Done) -> Message:
    """Return a whole answer."""
    return {**ai(message, done.answer, done.citations), **_ended(done)}


def chunk(message: object, text: str = "", *, thinking: str = "") -> Message:
    """Return a piece of an answer, to be joined to those before it."""
    reasoning = {"reasoning_content": thinking} if thinking else {}
    return {
        **_message("AIMessageChunk", message, text),
        **_of_models(),
        "additional_kwargs": reasoning,
        "tool_call_chunks": [],
    }


def last_chunk(message: object, done: Done) -> Message:
    """Return the chunk behind the last words: how the answer ended, and all that it cites.

    LangChain merges entries of lists that have the same `index`: citations go into one chunk only.
    """
    return {**chunk(message), "additional_kwargs": _cited(done.citations), **_ended(done)}


def _message(type_: str, message: object, text: str) -> Message:
    return {
        "id": str(message),
        "type": type_,
        "content": text,
        "additional_kwargs": {},
        "response_metadata": {},
        "name": None,
    }


def _of_models() -> dict[str, Any]:
    """Return what only messages of models have."""
    return {"tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None}


def _cited(citations: Sequence[CitationData]) -> dict[str, Any]:
    return {"citations": [citation.model_dump(mode="json") for citation in citations]}


def _ended(done: Done) -> dict[str, Any]:
    taken, written = done.usage.prompt_tokens, done.usage.completion_tokens
    return {
        "response_metadata": {"finish_reason": done.finish_reason},
        "usage_metadata": {
            "input_tokens": taken,
            "output_tokens": written,
            "total_tokens": taken + written,
        },
    }


def question(messages: object) -> tuple[str, list[ChatMessage]]:
    """Return what is asked, which is the last message, and the turns before it.

    Messages are dictionaries with a `role` or a `type` and `content`, pairs of the two, or texts.
    Raises MessagesError.
    """
    said = messages if isinstance(messages, list) else [messages]
    if not said:
        raise MessagesError("input.messages: the question is missing.")
    turns = [_turn(each, f"input.messages.{number}") for number, each in enumerate(said)]
    last = turns.pop()
    if last is None or last.role != "user" or not last.content.strip():
        raise MessagesError("input.messages: the last message must be the question of a user.")
    if len(last.content) > QUESTION_MAX_CHARS:
        raise MessagesError(
            f"input.messages: a question has at most {QUESTION_MAX_CHARS:,} characters."
        )
    return last.content, [turn for turn in turns if turn is not None and turn.content.strip()]


def _turn(message: object, where: str) -> ChatMessage | None:
    """Return a message; None for one that is not for the model."""
    match message:
        case str():
            return ChatMessage("user", message)
        case [str() as role, content]:
            pass
        case {"role": str() as role, "content": content}:
            pass
        case {"type": str() as role, "content": content}:
            pass
        case _:
            raise MessagesError(f"{where}: a message has a type or a role, and content.")
    if role in OTHER:
        return None
    if role in USER:
        return ChatMessage("user", _text(content, f"{where}.content"))
    if role in ASSISTANT:
        return ChatMessage("assistant", _text(content, f"{where}.content"))
    said = storable(role[:40])
    raise MessagesError(f"{where}: “{said}” is no type of message that is known here.")


def _text(content: object, where: str) -> str:
    """Return a message's content, the texts of its parts joined."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise MessagesError(f"{where}: this is neither a text nor a list of parts.")
    texts = []
    for number, part in enumerate(content):
        match part:
            case str() as text:
                texts.append(text)
            case {"type": "text", "text": str() as text}:
                texts.append(text)
            case _:
                raise MessagesError(f"{where}.{number}: only parts of type text can be read.")
    return "".join(texts)
