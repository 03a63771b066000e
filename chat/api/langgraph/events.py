"""A run's frames as LangGraph's events: what each mode of streaming shows of them.

An event's id says of which frame it is, which part of it, and how much of the answer its reader
has then: `frame-part-characters`. The same run gives the same events with the same ids whenever it
is read, so that a reader who comes back gets those that it has not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from chat.api.langgraph import messages
from chat.api.langgraph.messages import Message
from chat.frames import (
    TERMINAL,
    Citation,
    CitationData,
    Done,
    Error,
    Frame,
    Snapshot,
    Thinking,
    Token,
)
from chat.models import Run

Mode = Literal["values", "messages", "messages-tuple", "custom"]

NODE = "answer"
"""The only step of the graph that an assistant is."""
ID = re.compile(r"([0-9]{1,9})-([0-9]{1,2})-([0-9]{1,9})")


class Part(IntEnum):
    """The events that a frame can become, in their order; ids hold the numbers."""

    METADATA = 0
    QUESTION = 1
    CHUNK = 2
    MESSAGE = 3
    PARTIAL = 4
    COMPLETE = 5
    ANSWER = 6
    CUSTOM = 7
    ERROR = 8
    END = 9


NAMES = {
    Part.METADATA: "metadata",
    Part.QUESTION: "values",
    Part.CHUNK: "messages",
    Part.MESSAGE: "messages/metadata",
    Part.PARTIAL: "messages/partial",
    Part.COMPLETE: "messages/complete",
    Part.ANSWER: "values",
    Part.CUSTOM: "custom",
    Part.ERROR: "error",
    Part.END: "end",
}


class Position(NamedTuple):
    """How far a reader is."""

    seq: int = 0
    part: int = 0
    chars: int = 0

    @classmethod
    def parse(cls, event_id: str | None) -> Position:
        """Return the position behind an event; that before all of them for what is no id."""
        found = ID.fullmatch(event_id or "")
        return cls(*map(int, found.groups())) if found else BEGINNING

    def __str__(self) -> str:
        return f"{self.seq}-{self.part}-{self.chars}"


BEGINNING = Position()


class Event(NamedTuple):
    """One event of a stream; its name says what `data` is."""

    part: Part
    data: Any
    id: Position

    @property
    def name(self) -> str:
        """What LangGraph calls it."""
        return NAMES[self.part]


class Translation:
    """Translates the frames of one run, from its first on, for a reader who was at `after`.

    `before` are the messages of its conversation up to its question; to be set before the second
    frame, if values are to be shown.
    """

    def __init__(
        self, run: Run, modes: Sequence[Mode], about: dict[str, Any], after: Position = BEGINNING
    ) -> None:
        """Say `about` the run, beside each chunk, what is to be said."""
        self.run = run
        self.modes = modes
        self.before: list[Message] = []
        self._about = {"langgraph_node": NODE, "langgraph_step": 1, **about}
        self._after = after
        self._text = ""
        self._citations: list[CitationData] = []
        self._seq = 0
        self._named = False

    def events(self, frame: Frame) -> Iterator[Event]:
        """Yield what is new to the reader of what a frame becomes."""
        for event in self._events(frame):
            if event.part == Part.END or self._is_new(event, frame):
                yield event

    def _is_new(self, event: Event, frame: Frame) -> bool:
        last = frame.seq + 1 if isinstance(frame, Snapshot) else frame.seq
        if isinstance(frame, (*TERMINAL, Snapshot)) and self._after.seq > last:
            return True  # more had been shown than was saved when its process ended
        return event.id[:2] > self._after[:2]

    def _events(self, frame: Frame) -> Iterator[Event]:
        yield from self._opening(frame)
        yield from self._spoken(frame)
        if "custom" in self.modes:
            yield self._event(Part.CUSTOM, frame.model_dump(mode="json"))
        if isinstance(frame, Error):
            yield self._event(Part.ERROR, failure(frame))
        if isinstance(frame, TERMINAL):
            yield self._event(Part.END, None)

    def _opening(self, frame: Frame) -> Iterator[Event]:
        """Yield what comes before all others, with the ids of the first frames.

        The question is in its place when it is answered: it may have waited for another.
        """
        if not self._seq:
            yield self._event(Part.METADATA, {"run_id": str(self.run.id)}, seq=1)
        if self._seq < 2 <= frame.seq and "values" in self.modes:
            yield self._event(Part.QUESTION, {"messages": self.before}, seq=2)
        self._seq = frame.seq

    def _spoken(self, frame: Frame) -> Iterator[Event]:
        match frame:
            case Token():
                yield from self._said(frame.text)
            case Thinking():
                yield from self._chunk(messages.chunk(self.run.answer_id, thinking=frame.text))
            case Citation():
                known = set(CitationData.model_fields)
                self._citations.append(CitationData(**frame.model_dump(include=known)))
            case Snapshot():
                yield from self._replaced(frame)
            case Done():
                yield from self._done(frame)

    def _said(self, text: str) -> Iterator[Event]:
        if not text:
            return
        self._text += text
        yield from self._chunk(messages.chunk(self.run.answer_id, text))
        yield from self._partial()

    def _replaced(self, frame: Snapshot) -> Iterator[Event]:
        """Yield what brings a reader up to a text whose pieces are not known any more."""
        known = max(len(self._text), self._after.chars)
        new = frame.text != self._text
        self._text, self._citations = frame.text, frame.citations
        if text := frame.text[known:]:
            yield from self._chunk(messages.chunk(self.run.answer_id, text))
        if new:
            yield from self._partial()

    def _done(self, frame: Done) -> Iterator[Event]:
        yield from self._chunk(messages.last_chunk(self.run.answer_id, frame))
        shown = [messages.answer(self.run.answer_id, frame)] if frame.answer else []
        if shown and "messages" in self.modes:
            yield self._event(Part.COMPLETE, shown)
        if "values" in self.modes:
            yield self._event(Part.ANSWER, {"messages": [*self.before, *shown]})

    def _chunk(self, chunk: Message) -> Iterator[Event]:
        if "messages-tuple" in self.modes:
            yield self._event(Part.CHUNK, [chunk, self._about])

    def _partial(self) -> Iterator[Event]:
        if "messages" not in self.modes:
            return
        if not self._named:
            self._named = True
            about = {str(self.run.answer_id): {"metadata": self._about}}
            yield self._event(Part.MESSAGE, about)
        message = messages.ai(self.run.answer_id, self._text, self._citations)
        yield self._event(Part.PARTIAL, [message])

    def _event(self, part: Part, data: Any, seq: int | None = None) -> Event:
        return Event(part, data, Position(seq or self._seq, part, len(self._text)))


def failure(error: Error) -> dict[str, str]:
    """Return how a run failed."""
    return {"error": error.code, "message": error.message}
