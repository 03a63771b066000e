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
from chat.runlog import citation_data

Mode = Literal["values", "updates", "messages", "messages-tuple", "custom"]

NODE = "answer"
"""The only step of the graph that an assistant is."""
ID = re.compile(r"([0-9]{1,9})-([0-9]{1,2})-([0-9]{1,9})")


class Part(IntEnum):
    """The events that a frame can become, in their order; ids hold the numbers.

    Those from LAST_CHUNK on are of the terminal frame.
    """

    METADATA = 0
    QUESTION = 1
    CHUNK = 2
    MESSAGE = 3
    PARTIAL = 4
    CUSTOM = 5
    LAST_CHUNK = 6
    COMPLETE = 7
    UPDATE = 8
    ANSWER = 9
    LAST_CUSTOM = 10
    ERROR = 11
    END = 12


NAMES = {
    Part.METADATA: "metadata",
    Part.QUESTION: "values",
    Part.CHUNK: "messages",
    Part.MESSAGE: "messages/metadata",
    Part.PARTIAL: "messages/partial",
    Part.CUSTOM: "custom",
    Part.LAST_CHUNK: "messages",
    Part.COMPLETE: "messages/complete",
    Part.UPDATE: "updates",
    Part.ANSWER: "values",
    Part.LAST_CUSTOM: "custom",
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
            if self._is_new(event, frame):
                yield event

    def _is_new(self, event: Event, frame: Frame) -> bool:
        """Whether the reader has not had an event; the end is told again.

        Numbers of frames say nothing of the end, nor of a snapshot: when frames are forgotten
        theirs are lower, and more may have been shown than was saved when a process was killed.
        """
        if event.part >= Part.LAST_CHUNK or self._after.part >= Part.LAST_CHUNK:
            return event.part > self._after.part or event.part == Part.END
        if isinstance(frame, Snapshot) and event.part >= Part.CHUNK:
            return True
        return event.id[:2] > self._after[:2]

    def _events(self, frame: Frame) -> Iterator[Event]:
        yield from self._opening(frame)
        yield from self._spoken(frame)
        ended = isinstance(frame, TERMINAL)
        if "custom" in self.modes:
            part = Part.LAST_CUSTOM if ended else Part.CUSTOM
            yield self._event(part, frame.model_dump(mode="json"))
        if isinstance(frame, Error):
            yield self._event(Part.ERROR, failure(frame))
        if ended:
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
                yield from self._chunk("", thinking=frame.text)
            case Citation():
                self._citations.append(citation_data(frame))
            case Snapshot():
                yield from self._replaced(frame)
            case Done():
                yield from self._done(frame)

    def _said(self, text: str) -> Iterator[Event]:
        if not text:
            return
        self._text += text
        yield from self._chunk(text)
        yield from self._partial()

    def _replaced(self, frame: Snapshot) -> Iterator[Event]:
        """Yield what brings a reader up to a text whose pieces are not known any more."""
        known = max(len(self._text), self._after.chars)
        new = frame.text != self._text
        self._text, self._citations = frame.text, frame.citations
        if text := frame.text[known:]:
            yield from self._chunk(text)
        if new:
            yield from self._partial()

    def _done(self, frame: Done) -> Iterator[Event]:
        if "messages-tuple" in self.modes:
            chunk = messages.last_chunk(self.run.answer_id, frame)
            yield self._event(Part.LAST_CHUNK, [chunk, self._about])
        shown = [messages.answer(self.run.answer_id, frame)] if frame.answer else []
        if shown and "messages" in self.modes:
            yield self._event(Part.COMPLETE, shown)
        if "updates" in self.modes:
            yield self._event(Part.UPDATE, {NODE: {"messages": shown}})
        if "values" in self.modes:
            yield self._event(Part.ANSWER, {"messages": [*self.before, *shown]})

    def _chunk(self, text: str, thinking: str = "") -> Iterator[Event]:
        if "messages-tuple" in self.modes:
            chunk = messages.chunk(self.run.answer_id, text, thinking=thinking)
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
