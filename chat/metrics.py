"""What is counted and timed of answers, for Prometheus, and one line in the log for each.

A `RunMeter` watches the frames of a run as they are made: nothing on their way needs to know of
it. All names begin with `ragsite_`; docs/metrics.md lists them.
"""

from __future__ import annotations

import time

import structlog
from prometheus_client import Counter, Gauge, Histogram

from chat.frames import Done, Error, Frame, Grounding, Status, Token, WarningFrame
from chat.tracing import RunSpans

logger = structlog.get_logger(__name__)

FAST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
LONG = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)

FIRST_STATUS = Histogram(
    "ragsite_first_status_seconds", "From a question to its first status.", buckets=FAST
)
FIRST_TOKEN = Histogram(
    "ragsite_first_token_seconds", "From a question to its answer's first token.", buckets=FAST
)
RUN = Histogram("ragsite_run_seconds", "How long runs took.", ["ending"], buckets=LONG)
STAGE = Histogram(
    "ragsite_stage_seconds", "How long each stage of a run took.", ["stage"], buckets=FAST
)
TOKENS = Counter("ragsite_tokens", "Tokens as the provider counts them.", ["kind"])
ERRORS = Counter("ragsite_run_errors", "Runs that ended with an error.", ["code"])
WARNINGS = Counter("ragsite_run_warnings", "Warnings in runs that went on.", ["code"])
GROUNDINGS = Counter("ragsite_groundings", "Answers by how they are supported.", ["verdict"])
LATE_GROUNDINGS = Counter(
    "ragsite_late_groundings", "Answers whose support was found out after their end.", ["verdict"]
)
REFUSALS = Counter("ragsite_refusals", "Messages of clients that were refused.", ["code"])
RETRIES = Counter("ragsite_provider_retries", "Requests to a generator made again.", ["code"])
CANCELLED = Counter("ragsite_runs_cancelled", "Runs ended before their answer was.", ["why"])
CLOSED = Histogram(
    "ragsite_provider_close_seconds",
    "From a run's cancelling until its provider's stream was closed.",
    buckets=FAST,
)
RESUMES = Counter("ragsite_resumes", "Clients that came back to a run.")
ACTIVE_RUNS = Gauge(
    "ragsite_active_runs", "Runs that are being worked on.", multiprocess_mode="livesum"
)
SUBSCRIBERS = Gauge(
    "ragsite_subscribers", "Readers that follow a run.", multiprocess_mode="livesum"
)


class RunMeter:
    """Times one run by the frames it makes; `asked` is when its question came (monotonic)."""

    def __init__(self, asked: float) -> None:
        self._asked = asked
        self._spans = RunSpans(asked)
        self._stage: tuple[str, float] | None = None
        self._first_token: float | None = None
        self._cancelled: float | None = None
        ACTIVE_RUNS.inc()

    def observe(self, frame: Frame) -> None:
        """Take note of the next frame."""
        now = time.monotonic()
        match frame:
            case Token() if self._first_token is None:
                self._first_token = now - self._asked
                FIRST_TOKEN.observe(self._first_token)
                self._enter("streaming", now)
            case Status():
                if self._stage is None:
                    FIRST_STATUS.observe(now - self._asked)
                self._enter(frame.stage, now)
            case WarningFrame():
                (RETRIES if frame.retry else WARNINGS).labels(frame.code).inc()
            case Grounding():
                GROUNDINGS.labels(frame.verdict).inc()
            case Done() | Error():
                self._end(frame, now)

    def cancelled(self, why: str) -> None:
        """Take note that the run is being ended, the first time."""
        if self._cancelled is None:
            self._cancelled = time.monotonic()
            CANCELLED.labels(why).inc()

    def provider_closed(self) -> None:
        """Take note that nothing reads from the provider any more."""
        if self._cancelled is not None:
            CLOSED.observe(time.monotonic() - self._cancelled)

    def _enter(self, stage: str, now: float) -> None:
        if self._stage is not None:
            name, since = self._stage
            STAGE.labels(name).observe(now - since)
            self._spans.stage(name, since, now)
        self._stage = (stage, now)

    def _end(self, frame: Done | Error, now: float) -> None:
        self._enter("ended", now)
        ACTIVE_RUNS.dec()
        ending, code = (
            ("error", frame.code) if isinstance(frame, Error) else (frame.finish_reason, "")
        )
        seconds = now - self._asked
        RUN.labels(ending).observe(seconds)
        self._spans.end(ending, code, now)
        if isinstance(frame, Error):
            ERRORS.labels(code).inc()
        else:
            TOKENS.labels("prompt").inc(frame.usage.prompt_tokens)
            TOKENS.labels("completion").inc(frame.usage.completion_tokens)
        logger.info(
            "run ended",
            ending=ending,
            code=code or None,
            seconds=round(seconds, 3),
            first_token_seconds=self._first_token and round(self._first_token, 3),
        )
