"""The numbered frames of a run: in memory for readers of its own process, and what is unsaved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.conf import settings

from chat.frames import (
    TERMINAL,
    Citation,
    CitationData,
    Done,
    Error,
    Frame,
    Grounding,
    Status,
    Token,
)

Kind = TypeVar("Kind", bound=Frame)
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")


class RunLog:
    """Numbers the frames of one run, keeps them for readers, and knows which are saved."""

    def __init__(
        self, run: UUID, answer: UUID, observe: Callable[[Frame], None] = lambda _: None
    ) -> None:
        """Tell `observe` of each frame as it becomes visible."""
        self.run = run
        self.answer = answer
        self.frames: list[Frame] = []
        self.text = ""
        self.citations: list[CitationData] = []
        self.outcome: dict[str, object] | None = None
        """How the run ended, as columns of its row."""
        self.stored = asyncio.Event()
        """Set when everything is saved, the end too."""
        self._observe = observe
        self._visible = 0
        self._saved = 0
        self._citations_saved = 0
        self._changed = asyncio.Event()
        self._coalescer = Coalescer(self._append)

    @property
    def written(self) -> list[dict[str, object]]:
        """What is searched for in place of the question, as far as that is known."""
        return [
            frame.written.model_dump()
            for frame in self.frames
            if isinstance(frame, Status) and frame.written
        ]

    def begin(self, frame: Status) -> None:
        """Take the first frame, which was saved with the question."""
        self._append(frame)
        self._saved = 1

    def add(self, frame: Frame) -> None:
        """Take over the next frame and number it; tokens may wait a moment to share a frame."""
        self._coalescer.add(frame)

    def flush(self) -> None:
        """Let readers see the tokens that wait to share a frame."""
        self._coalescer.flush()

    def end(self, frame: Done | Error, outcome: dict[str, object]) -> None:
        """Take the terminal frame, to be saved before readers see it: see `show_end`."""
        self.flush()
        self.outcome = outcome
        self.frames.append(frame.numbered(self.run, len(self.frames) + 1))

    def show_end(self) -> None:
        """Let readers see the terminal frame."""
        self._show(self.frames[-1])

    def _append(self, frame: Frame) -> None:
        # In place: a copy of each frame takes longer than all the rest here.
        frame.run, frame.seq = self.run, len(self.frames) + 1
        self.frames.append(frame)
        if isinstance(frame, Token):
            self.text += frame.text
        elif isinstance(frame, Citation):
            self.citations.append(citation_data(frame))
        elif isinstance(frame, Grounding):
            self.citations = frame.applied_to(self.citations)
        self._show(frame)

    def _show(self, frame: Frame) -> None:
        self._visible = len(self.frames)
        self._observe(frame)
        self._changed.set()
        self._changed = asyncio.Event()

    async def follow(self, after: int) -> AsyncGenerator[Frame]:
        """Yield the frames behind number `after`, then live ones, up to the terminal frame.

        Whoever has that one already gets it again, and a number beyond the newest counts as it.
        """
        ended = self._visible and isinstance(self.frames[self._visible - 1], TERMINAL)
        position = min(after, self._visible - 1 if ended else self._visible)
        while True:
            while position < self._visible:
                frame = self.frames[position]
                position += 1
                yield frame
                if isinstance(frame, TERMINAL):
                    return
            await self._changed.wait()

    def unsaved(self) -> Batch | None:
        """Return what is not saved yet, if anything."""
        new = self.frames[self._saved :]
        return Batch(self, new, self._citations_saved) if new else None

    def saved(self, batch: Batch) -> None:
        """Take note that a batch is in the database."""
        self._saved += len(batch.frames)
        self._citations_saved += len(batch.of(Citation))
        if self.outcome and self._saved == len(self.frames):
            self.stored.set()


@dataclass(frozen=True)
class Batch:
    """What of a run is not saved yet."""

    log: RunLog
    frames: Sequence[Frame]
    citations_before: int
    """How many citations the answer has without these frames."""

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Return the frames of a kind."""
        return [frame for frame in self.frames if isinstance(frame, kind)]


class Coalescer:
    """Joins tokens that arrive close together; the first goes out at once, a sentence's end too."""

    def __init__(self, emit: Callable[[Frame], None]) -> None:
        self._emit = emit
        self._held: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, frame: Frame) -> None:
        """Take a frame; anything but a token goes out at once, behind the tokens before it."""
        if not isinstance(frame, Token):
            self.flush()
            self._emit(frame)
        elif self._timer is None:
            self._emit(frame)
            self._wait()
        else:
            self._held.append(frame.text)
            if frame.text.rstrip().endswith(SENTENCE_ENDS):
                self.flush()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(settings.TOKEN_FRAME_SECONDS, self._elapsed)

    def _elapsed(self) -> None:
        self._timer = None
        if self._held:
            self._emit_held()
            self._wait()

    def flush(self) -> None:
        """Let out what is held."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held:
            self._emit_held()

    def _emit_held(self) -> None:
        text, self._held = "".join(self._held), []
        self._emit(Token(text=text))


def citation_data(frame: Citation) -> CitationData:
    """Return what of a citation frame goes into the answer's list of citations."""
    return CitationData(**frame.model_dump(include=set(CitationData.model_fields)))
