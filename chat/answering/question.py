"""A question, and what its answer may draw on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from retrieval import search
from retrieval.backends.base import ChatMessage
from retrieval.backends.generation import GenerationSettings


class Key(NamedTuple):
    """What decides what a question finds: whose it is, about what, searched how."""

    text: str
    scope: search.Scope
    settings: search.SearchSettings
    earlier: tuple[str, ...]
    """What was asked before, which decides what a question that goes on with it means."""


@dataclass(frozen=True)
class Question:
    """A question, and what its answer may draw on."""

    text: str
    scope: search.Scope
    history: Sequence[ChatMessage] = ()
    instructions: str = ""
    settings: search.SearchSettings = field(default_factory=search.SearchSettings)
    model: str | None = None
    generation: GenerationSettings = field(default_factory=GenerationSettings)
    rewrite: bool = True
    """Whether it may be rewritten if it goes on with the conversation."""
    without_sources: bool = False
    """Whether the model may answer from what it knows where nothing is found."""

    @property
    def key(self) -> Key:
        """What decides what this question finds."""
        earlier = tuple(turn.content for turn in self.history if turn.role == "user")
        return Key(self.text, self.scope, self.settings, earlier if self.rewrite else ())


class Clock:
    """Milliseconds since the run started, and marks on the way."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self.marks: dict[str, int] = {}

    def now(self) -> int:
        """Return the milliseconds since the start."""
        return round((time.monotonic() - self._start) * 1000)

    def mark(self, name: str) -> int:
        """Note the time under `name`, the first time only."""
        return self.marks.setdefault(name, self.now())
