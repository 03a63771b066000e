"""A worker of a test that gets stuck in a stage.

It says so, and goes on when it is told to on its standard input. `tests.ingesting` starts it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings

from retrieval import backends
from retrieval.backends.base import Vectors
from retrieval.ingestion import filling, ledger, pipeline
from retrieval.ingestion.worker import work
from retrieval.models import Stage
from tests.fakes import HashEmbedder


def say(word: str) -> None:
    """Tell the test."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def stuck() -> None:
    """Say so, and wait for a line: on a database's thread, in the middle of a transaction."""
    say("stuck")
    sys.stdin.readline()


async def stuck_async() -> None:
    """Say so, and wait for a line."""
    await asyncio.to_thread(stuck)


class StuckEmbedder(HashEmbedder):
    """Gets stuck at its third request if it is told to; then it has embedded two."""

    at = 0
    calls = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls == self.at:
            await stuck_async()
        return await super().embed_passages(texts)


def before(module: Any, name: str, when: Callable[..., bool] = lambda *_: True) -> None:
    """Get stuck when a function is called, before it does anything."""
    function = getattr(module, name)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if when(*args):
            stuck()
        return function(*args, **kwargs)

    setattr(module, name, wrapper)


def install(fault: str) -> None:
    """Let the worker of this process get stuck in a stage."""
    if fault == "queued":
        before(ledger, "take_up")
    elif fault == "extracting":
        before(pipeline, "_store_text")
    elif fault == "chunking":  # the chunks are written, the transaction is open
        before(ledger, "advance", lambda _, stage: stage == Stage.EMBEDDING)
    elif fault == "embedding":
        StuckEmbedder.at = 3
    elif fault == "finishing":  # it is ready, the transaction is open
        before(ledger, "finish")
    elif fault == "filling":
        before(filling, "_wanted")


def main() -> None:
    """Work, and get stuck in the stage that the arguments name."""
    fault, settings.MEDIA_ROOT = sys.argv[1:]
    if "EMBEDDER" not in os.environ:
        embedder = StuckEmbedder()
        backends.embedder = lambda: embedder
    install(fault)
    say("started")
    asyncio.run(work(asyncio.Event()))
