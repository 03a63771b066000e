"""What the people of a soak asked, did and saw; the checks compare it with what is stored."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

WireFrame = dict[str, Any]


@dataclass(eq=False)
class Asked:
    """A question that somebody asked, and what they did to its answer; times are monotonic."""

    id: str
    text: str
    model: str
    conversation: str | None
    run: str | None = None
    refused: str = ""
    stopped: float | None = None
    left: float | None = None

    def message(self) -> WireFrame:
        """Return what the page sends."""
        return {
            "type": "ask",
            "id": self.id,
            "text": self.text,
            "model": self.model,
            "conversation": self.conversation,
        }


@dataclass(eq=False)
class Answer:
    """An answer as one tab has it, built from the frames that came."""

    run: str
    text: str = ""
    # Digests of the frames, by number from 1; None for those that a snapshot stood for.
    seen: list[int | None] = field(default_factory=list)
    position: int = 0
    # How often it was asked for from the beginning again.
    rewinds: int = 0
    # The longest time without a socket in mid-answer.
    away_seconds: float = 0.0
    snapshot: bool = False
    conversation: str | None = None
    ending: WireFrame | None = None
    wrong: str = ""

    def take(self, frame: WireFrame) -> str | None:
        """Take in the next frame; return what is wrong with it, if anything is."""
        number = frame["seq"]
        if frame["type"] == "snapshot":
            self.snapshot = True
            self.text, self.position = frame["text"], number
            self.seen = [*self.seen[:number], *[None] * (number - len(self.seen))]
            return None
        if number == 1 and self.rewinds and self.position:
            self.rewinds -= 1
        elif self.ending and number == self.position and digest(frame) == self.seen[-1]:
            return None  # whoever has everything is told that this was the end
        elif number != self.position + 1:
            return f"frame {number} ({frame['type']}) came after frame {self.position}"
        self.position = number
        mark = digest(frame)
        if number <= len(self.seen):
            return None if self.seen[number - 1] == mark else f"frame {number} has changed"
        self.seen.append(mark)
        match frame["type"]:
            case "token":
                self.text += frame["text"]
            case "status" if frame["conversation"]:
                self.conversation = frame["conversation"]
            case "done" | "error":
                self.ending = frame
        return None


def digest(frame: WireFrame) -> int:
    """Return a number that tells frames apart, in this process."""
    return hash(json.dumps(frame, sort_keys=True))


@dataclass(eq=False)
class Journal:
    """Everything that was asked and seen, what was done to processes, and what went wrong."""

    asked: dict[str, Asked] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    did: Counter[str] = field(default_factory=Counter)
    frames: int = 0
    # From sending stop until the end was there, in seconds.
    stop_seconds: list[float] = field(default_factory=list)
    killed: set[int] = field(default_factory=set)
    # When (seconds of the epoch), and the bytes of the process that nobody ends.
    memory: list[tuple[float, int]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
