"""`manage.py worker`: ingest what is queued, until stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Any

from django.core.management import CommandParser

from retrieval.ingestion.worker import work
from retrieval.management.ready import ReadyCommand


class Command(ReadyCommand):
    help = "Work on the queue of uploaded documents until stopped (SIGTERM, Ctrl-C)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--concurrency", type=int, default=4, help="Documents worked on at the same time."
        )

    def handle(self, *args: Any, concurrency: int, **options: Any) -> None:
        # The web server answers questions on the same cores: they go first.
        with contextlib.suppress(OSError):
            os.nice(10)
        asyncio.run(self.run(concurrency))

    async def run(self, concurrency: int) -> None:
        """Work until a signal says stop."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        self.say("Worker started")
        await work(stop, concurrency=concurrency)
        self.say("Worker stopped")
