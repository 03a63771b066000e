"""Watched folders on the command line: a line, or a JSON object, for each thing that happens."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from retrieval.database import in_thread
from retrieval.ingestion.archives import Taken
from retrieval.ingestion.folders import Chosen
from retrieval.ingestion.taking import Intake
from retrieval.ingestion.tasks import PASSING
from retrieval.ingestion.waiting import POLL_SECONDS, worker_if_none
from retrieval.ingestion.watching import Events, Watch
from retrieval.management.outcomes import Outcome, line, outcome

WAITING = "queued"


class Follower:
    """Tells of each file once it has ended, or is queued if nobody waits for it."""

    def __init__(self, tell: Callable[[Outcome, str], None], *, wait: bool) -> None:
        self.tell = tell
        self.wait = wait
        self.waiting: list[Taken] = []
        self.counts: Counter[str] = Counter()

    def taken(self, taken: Taken) -> None:
        """Note a file that was taken in, or refused."""
        self.waiting.append(taken)

    def removed(self, path: Path) -> None:
        """Tell of a file that vanished."""
        self._tell({"path": str(path), "status": "removed"}, f"{path}: removed")

    def renamed(self, old: Path, new: Path) -> None:
        """Tell of a file that has another name now."""
        told = {"path": str(new), "status": "renamed", "from": str(old)}
        self._tell(told, f"{old}: renamed to {new}")

    def look(self) -> None:
        """Tell of the files that have ended."""
        for taken in list(self.waiting):
            found = outcome(taken)
            if not (self.wait and found["status"] == WAITING):
                self.waiting.remove(taken)
                self._tell(found, line(found))

    def _tell(self, found: Outcome, text: str) -> None:
        self.counts[found["status"]] += 1
        self.tell(found, text)


async def watch(
    roots: Sequence[Path], chosen: Chosen, intake: Intake, follower: Follower, **options: Any
) -> None:
    """Watch folders until Ctrl-C or SIGTERM. Raises WatchError."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    events = Events(follower.taken, follower.removed, follower.renamed)
    watching = Watch(roots, chosen, intake, events, **options)
    async with worker_if_none() if follower.wait else nullcontext():
        task = asyncio.create_task(watching.run(stop), name="watch")
        try:
            while not task.done():
                with suppress(*PASSING):  # the database may be away for a while
                    await in_thread(follower.look)
                await asyncio.wait({task}, timeout=POLL_SECONDS)
            task.result()
        finally:
            stop.set()
            await asyncio.gather(task, return_exceptions=True)
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
    await in_thread(follower.look)
