"""What is being typed is searched for ahead, so that its answer begins at generation.

Results are kept for half a minute, in this process, for the same person asking the same of the
same collections; they are used only while nothing new is searchable and all of it may still be
seen.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db import DatabaseError

from chat.answering.finding import Finding
from chat.answering.question import Key
from retrieval import search
from retrieval.backends.base import BackendError
from retrieval.database import fetch

NEWEST = "SELECT max(finished_at) FROM retrieval_documentversion"
KEPT_SECONDS = 30.0
MOST = 500


@dataclass(frozen=True)
class Entry:
    """A search under way or done, and the state of the index when it began."""

    task: asyncio.Task[Finding]
    revision: datetime | None
    expires: float


_entries: OrderedDict[Key, Entry] = OrderedDict()


async def begin(key: Key, looking: Coroutine[Any, Any, Finding]) -> asyncio.Task[Finding]:
    """Start to look ahead, and keep what comes of it."""
    revision = await newest()
    task = asyncio.create_task(looking, name="prefetch")
    # Nobody may ever ask; then its error is nobody's.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    _entries[key] = Entry(task, revision, time.monotonic() + KEPT_SECONDS)
    _entries.move_to_end(key)
    while len(_entries) > MOST:
        _entries.popitem(last=False)[1].task.cancel()
    return task


async def take(key: Key) -> Finding | None:
    """Return what was found ahead, waiting for it if need be; None if it is no longer true."""
    entry = _entries.pop(key, None)
    if entry is None or entry.expires < time.monotonic():
        return None
    try:
        finding = await asyncio.shield(entry.task)
    except (BackendError, DatabaseError, asyncio.CancelledError):
        if entry.task.done():
            return None
        raise  # it is the run that was cancelled, not the looking ahead
    still_true = await is_true(finding, key.scope, entry.revision)
    return finding if still_true else None


async def newest() -> datetime | None:
    """Return when the newest version became searchable."""
    ((moment,),) = await fetch(NEWEST)
    return cast("datetime | None", moment)


async def is_true(finding: Finding, scope: search.Scope, revision: datetime | None) -> bool:
    """Whether nothing has become searchable since, and all that was found may still be seen."""
    shown = (UUID(source.source_id) for source in finding.sources)
    found = {*shown, *(hit.id for hit in finding.context)}
    seen = scope.count(found)
    ((count, moment),) = await fetch(f"SELECT ({seen.sql}), ({NEWEST})", seen.params)
    return (count, moment) == (len(found), revision)
