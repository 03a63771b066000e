"""The runs this process works on, and the tasks that work on them."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid4

from chat.answering.question import Question
from chat.frames import Done
from chat.metrics import RunMeter
from chat.models import Run
from chat.runlog import RunLog
from chat.terms import PAGE, Terms

OWNER = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"

WhyCancelled = Literal["stopped", "abandoned", "drained", "lost", "withdrawn"]


@dataclass(eq=False)
class ActiveRun:
    """A run that this process works on."""

    run: Run
    question: Question
    log: RunLog
    meter: RunMeter
    terms: Terms = PAGE
    readers: int = 0
    why_cancelled: WhyCancelled | None = None
    producer: asyncio.Task[Done] | None = None
    grace: asyncio.TimerHandle | None = None
    work: asyncio.Task[None] = field(init=False)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when readers see the end, which may not be saved yet."""

    def cancel(self, why: WhyCancelled) -> None:
        """End the answer where it is, unless it has ended; what was streamed stays."""
        if self.producer is not None and self.producer.done():
            return
        self.why_cancelled = self.why_cancelled or why
        self.meter.cancelled(why)
        if self.producer is not None:
            self.producer.cancel()


RUNS: dict[UUID, ActiveRun] = {}
_tasks: set[asyncio.Task[None]] = set()


def hold(coroutine: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Run a background task that is referenced until it ends."""
    task = asyncio.create_task(coroutine, name=name)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return task
