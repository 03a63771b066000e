"""Frames as the events that the R2R SDK parses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chat.api.r2r.results import Result, by_number, citations, used
from chat.frames import (
    TERMINAL,
    Citation,
    Done,
    Error,
    Frame,
    SearchResults,
    Snapshot,
    Source,
    Thinking,
    Token,
)

Describe = Callable[[Sequence[Source]], Awaitable[list[Result]]]


class Event(NamedTuple):
    """An event's name, and its data: JSON, or the text `[DONE]`."""

    name: str
    data: dict[str, Any] | str


DONE = Event("done", "[DONE]")


def failed(message: str, code: str) -> Event:
    """Return the event that says why there is no more of an answer."""
    return Event("error", {"message": message, "error_type": code})


@dataclass
class Telling:
    """An answer that is being told: which events each of its frames is.

    `describe` returns passages as R2R's search results.
    """

    describe: Describe
    text: str = ""
    searched: bool = False
    payloads: dict[int, Result] = field(default_factory=dict)
    cited: set[int] = field(default_factory=set)

    async def events(self, frame: Frame) -> list[Event]:
        """Return the events of the next frame; of many there are none. Raises DatabaseError."""
        told = await self._told(frame)
        if told and not self.searched and not isinstance(frame, Error):
            self.searched = True
            told.insert(0, _search_results(frame, []))
        return [*told, DONE] if isinstance(frame, TERMINAL) else told

    async def _told(self, frame: Frame) -> list[Event]:  # noqa: PLR0911 - one for each kind
        match frame:
            case SearchResults():
                return [await self._found(frame)]
            case Thinking() if frame.text:
                return [_delta("thinking", frame, frame.text)]
            case Token() if frame.text:
                self.text += frame.text
                return [_delta("message", frame, frame.text)]
            case Citation():
                return [await self._cited(frame)]
            case Snapshot():
                return self._caught_up(frame)
            case Done():
                return [self._answer(frame)]
            case Error():
                return [failed(frame.message, frame.code)]
        return []

    async def _found(self, frame: SearchResults) -> Event:
        sources = used(frame.results)
        found = await self.describe(sources)
        self.payloads = by_number(sources, found)
        self.searched = True
        return _search_results(frame, found)

    async def _cited(self, frame: Citation) -> Event:
        if frame.index not in self.payloads and frame.source is not None:
            (self.payloads[frame.index],) = await self.describe([frame.source])
        is_new = frame.index not in self.cited
        self.cited.add(frame.index)
        start, end = frame.span
        data = {
            "id": str(frame.index),
            "object": "citation",
            "is_new": is_new,
            "span": {"start": start, "end": end},
            "source_type": frame.source_type,
        }
        if is_new:
            data["payload"] = self.payloads.get(frame.index)
        return Event("citation", data)

    def _caught_up(self, frame: Snapshot) -> list[Event]:
        """Return what a reader lacks, where another process that wrote the answer has ended."""
        if not frame.text.startswith(self.text) or frame.text == self.text:
            return []
        rest, self.text = frame.text[len(self.text) :], frame.text
        return [_delta("message", frame, rest)]

    def _answer(self, frame: Done) -> Event:
        return Event(
            "final_answer",
            {
                "id": f"msg_{frame.run}",
                "object": "rag.final_answer",
                "generated_answer": frame.answer,
                "citations": citations(frame.answer, frame.citations, self.payloads),
            },
        )


def _search_results(frame: Frame, found: list[Result]) -> Event:
    data = {"chunk_search_results": found}
    return Event(
        "search_results", {"id": f"run_{frame.run}", "object": "rag.search_results", "data": data}
    )


def _delta(name: str, frame: Frame, text: str) -> Event:
    piece = {"type": "text", "payload": {"value": text, "annotations": []}}
    return Event(
        name,
        {
            "id": f"msg_{frame.run}",
            "object": f"agent.{name}.delta",
            "delta": {"content": [piece]},
        },
    )
