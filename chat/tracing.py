"""A span for each run and for each of its stages, where OpenTelemetry is installed (extra `otel`).

What is exported, and where to, OpenTelemetry's own environment variables say.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from structlog.contextvars import get_contextvars

try:
    from opentelemetry import trace
    from opentelemetry.trace import StatusCode
except ImportError:  # spans are an extra
    INSTALLED = False
else:
    INSTALLED = True

if TYPE_CHECKING:
    from opentelemetry.trace import Span

TRACER = "ragsite"


class RunSpans:
    """The spans of one run; all times are those of `time.monotonic`."""

    def __init__(self, asked: float) -> None:
        self._run: Span | None = None
        if INSTALLED:
            tracer = trace.get_tracer(TRACER)
            self._run = tracer.start_span("run", start_time=nanoseconds(asked))

    def stage(self, name: str, since: float, until: float) -> None:
        """Note a stage that has ended."""
        if self._run is not None:
            context = trace.set_span_in_context(self._run)
            start = nanoseconds(since)
            span = trace.get_tracer(TRACER).start_span(name, context, start_time=start)
            span.end(nanoseconds(until))

    def end(self, ending: str, error: str, now: float) -> None:
        """Note how the run ended, with its ids; `error` is the code if it failed."""
        if self._run is not None:
            for name, value in get_contextvars().items():
                self._run.set_attribute(f"ragsite.{name}", str(value))
            self._run.set_attribute("ragsite.ending", ending)
            if error:
                self._run.set_status(StatusCode.ERROR, error)
            self._run.end(nanoseconds(now))


def nanoseconds(moment: float) -> int:
    """Return a monotonic moment as nanoseconds since 1970."""
    return time.time_ns() - round((time.monotonic() - moment) * 1e9)
