"""From the frames of a run to chat completions: whole, and in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from chat.api.openai import errors
from chat.frames import CitationData, Done, Error, Frame, Snapshot, Thinking, Token, Usage

Json = dict[str, Any]
REASONS = {"stop": "stop", "length": "length", "cancelled": "stop", "no_answer": "stop"}


@dataclass(frozen=True)
class Completion:
    """An answer as OpenAI's clients know it.

    `created` is in seconds since 1970; `link` gives the address at which a citation can be seen.
    """

    id: str
    created: int
    model: str
    link: Callable[[CitationData], str]

    def whole(self, done: Done) -> Json:
        """Return an answer that has ended."""
        message = {
            "role": "assistant",
            "content": done.answer,
            "refusal": None,
            "annotations": self.annotations(done.citations),
        }
        reason = REASONS[done.finish_reason]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
        return {**self._head("chat.completion"), "choices": [choice], "usage": usage(done.usage)}

    def chunk(self, delta: Json, reason: str | None = None) -> Json:
        """Return a piece of an answer."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def usage_chunk(self, used: Usage) -> Json:
        """Return the chunk that tells only of tokens."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": usage(used)}

    def annotations(self, citations: Sequence[CitationData]) -> list[Json]:
        """Return the citations, one a marker; the end of each span is exclusive."""
        return [
            {
                "type": "url_citation",
                "url_citation": {
                    "start_index": citation.span[0],
                    "end_index": citation.span[1],
                    "title": _title(citation),
                    "url": self.link(citation),
                },
            }
            for citation in citations
        ]

    def _head(self, kind: str) -> Json:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


class Chunks:
    """Turns the frames of a run into chunks, one run each."""

    def __init__(self, completion: Completion, *, with_usage: bool) -> None:
        self.completion = completion
        self.with_usage = with_usage
        self.sent = ""

    def begin(self) -> Json:
        """Return the first chunk, which has the role."""
        return self.completion.chunk({"role": "assistant", "content": ""})

    def take(self, frame: Frame) -> Iterator[Json]:
        """Yield what a frame adds; after the terminal one nothing more comes."""
        match frame:
            case Token():
                yield from self._text(frame.text)
            case Thinking():
                yield self.completion.chunk({"reasoning_content": frame.text})
            case Snapshot():
                yield from self._up_to(frame.text)
            case Done():
                yield from self._up_to(frame.answer)
                yield from self._end(frame)
            case Error():
                yield errors.failed(frame).body()

    def _text(self, text: str) -> Iterator[Json]:
        if text:
            self.sent += text
            yield self.completion.chunk({"content": text})

    def _up_to(self, text: str) -> Iterator[Json]:
        """Yield what is missing of the text. Raises ApiError where it is another one by now."""
        if not text.startswith(self.sent):
            message = gettext("The answer was withdrawn while it was sent.")
            raise errors.ApiError(403, message, "access_lost", repeatable=False)
        yield from self._text(text[len(self.sent) :])

    def _end(self, done: Done) -> Iterator[Json]:
        """Yield the citations, all in one chunk as the SDK needs them, and the reason."""
        if annotations := self.completion.annotations(done.citations):
            yield self.completion.chunk({"annotations": annotations})
        yield self.completion.chunk({}, REASONS[done.finish_reason])
        if self.with_usage:
            yield self.completion.usage_chunk(done.usage)


def usage(used: Usage) -> Json:
    """Return the tokens that an answer took; 0 where no model was asked, or it does not say."""
    return {
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "total_tokens": used.prompt_tokens + used.completion_tokens,
    }


def _title(citation: CitationData) -> str:
    if citation.page is None:
        return citation.title
    return gettext("{title}, p. {page}").format(title=citation.title, page=citation.page)
