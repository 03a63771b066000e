"""From the frames of a run to the events of `stream`: pure data, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from chat.frames import CitationData, Done, Error, Frame, Snapshot, Status, Thinking, Token, Usage

EventType = Literal["messages-tuple", "values", "error", "end"]
Data = dict[str, Any]


@dataclass(frozen=True)
class StreamEvent:
    """What happened while an answer was written.

    - `messages-tuple`: a piece of a message: `type` (`ai`), `content` and `id`. Pieces of one id
      are deltas, to be joined. Reasoning is in `additional_kwargs.reasoning_content`.
    - `values`: the whole state after a step: `title`, `messages` and `artifacts`.
    - `error`: the answer broke off: `code`, `message` and `recoverable`.
    - `end`: always the last: `usage`, `finish_reason`, `thread_id` and `run_id`.
    """

    type: EventType
    data: Data = field(default_factory=dict)


class Events:
    """Turns the frames of one run into events."""

    def __init__(self, *, thinking: bool = True) -> None:
        self.thinking = thinking
        self.title: str | None = None
        self.earlier: list[Data] = []
        self.question: Data = {}
        self.text = ""
        self.citations: Sequence[CitationData] = ()
        self.first: Status | None = None

    def begin(self, first: Status, question: str) -> None:
        """Take the frame that says where the question went."""
        self.first = first
        self.question = {"type": "human", "content": question, "id": str(first.question)}

    def know(self, title: str | None, messages: Sequence[Data]) -> None:
        """Take what the conversation is called, and what was said in it before."""
        own = self.first and {str(self.first.question), str(self.first.answer)}
        self.title = title
        self.earlier = [each for each in messages if each["id"] not in (own or ())]

    def take(self, frame: Frame) -> Iterator[StreamEvent]:
        """Yield what a frame means."""
        match frame:
            case Token():
                self.text += frame.text
                yield self._piece(frame.text)
            case Thinking() if self.thinking:
                yield self._piece("", additional_kwargs={"reasoning_content": frame.text})
            case Snapshot():
                yield from self._replace(frame.text)
            case Done():
                yield from self._replace(frame.answer)
                self.citations = frame.citations
                yield self.values()
                yield self._end(frame.finish_reason, frame.usage)
            case Error():
                yield self.values()
                told = {"code", "message", "recoverable"}
                yield StreamEvent("error", frame.model_dump(include=told))
                yield self._end("error", Usage())

    def values(self) -> StreamEvent:
        """Return the state as it is now."""
        messages = [*self.earlier, self.question]
        if self.text:
            messages.append(self._answer())
        return StreamEvent("values", {"title": self.title, "messages": messages, "artifacts": []})

    @property
    def _id(self) -> str:
        return str(self.first.answer) if self.first else ""

    def _answer(self) -> Data:
        message: Data = {"type": "ai", "content": self.text, "id": self._id}
        if self.citations:
            cited = [citation.model_dump(mode="json") for citation in self.citations]
            message["additional_kwargs"] = {"citations": cited}
        return message

    def _piece(self, text: str, **more: Any) -> StreamEvent:
        return StreamEvent(
            "messages-tuple", {"type": "ai", "content": text, "id": self._id, **more}
        )

    def _replace(self, text: str) -> Iterator[StreamEvent]:
        """Take the whole text; what is new of it is a piece, unless it is another text by now."""
        missing = text[len(self.text) :] if text.startswith(self.text) else ""
        self.text = text
        if missing:
            yield self._piece(missing)

    def _end(self, reason: str, used: Usage) -> StreamEvent:
        usage = {
            "input_tokens": used.prompt_tokens,
            "output_tokens": used.completion_tokens,
            "total_tokens": used.prompt_tokens + used.completion_tokens,
        }
        where = {
            "thread_id": str(self.first.conversation) if self.first else None,
            "run_id": str(self.first.run) if self.first else None,
        }
        return StreamEvent("end", {"usage": usage, "finish_reason": reason, **where})
