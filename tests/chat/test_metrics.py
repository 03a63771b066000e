"""What is counted and timed of runs, and what the log says of them."""

import asyncio
import time
from typing import Any

import pytest
import structlog
from django.contrib.auth.models import User
from prometheus_client import REGISTRY
from structlog.testing import LogCapture

from chat import runs
from chat.client_messages import Ask
from chat.frames import Done, Error, Status, Token, Usage, WarningFrame
from chat.metrics import RunMeter
from retrieval.backends.base import BackendError
from retrieval.models import Chunk
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.usefixtures("runs_end")

QUESTION = "How high is the tower?"
ANSWER = Done(finish_reason="stop", answer="It is high.", citations=[])


class Change:
    """By how much a sample has changed since this was made."""

    def __init__(self, name: str, **labels: str) -> None:
        self.name, self.labels = name, labels
        self.before = self.value()

    def value(self) -> float:
        return REGISTRY.get_sample_value(self.name, self.labels) or 0

    def __call__(self) -> float:
        return self.value() - self.before


@pytest.fixture
def meter() -> RunMeter:
    return RunMeter(time.monotonic())


@pytest.fixture
def log() -> Any:
    """Capture the events that structlog is given, with what is bound to the context."""
    capture = LogCapture()
    before = structlog.get_config()["processors"]
    # The list itself, since loggers that were used keep it.
    kept, before[:] = before[:], [structlog.contextvars.merge_contextvars, capture]
    yield capture
    before[:] = kept


def test_the_first_status_and_the_first_token_are_timed_from_the_question() -> None:
    status = Change("ragsite_first_status_seconds_sum")
    token = Change("ragsite_first_token_seconds_sum")
    count = Change("ragsite_first_token_seconds_count")
    meter = RunMeter(time.monotonic() - 2)
    for frame in (
        Status(stage="queued", message=""), Status(stage="searching", message=""),
        Token(text="It"), Token(text=" is"), ANSWER,
    ):  # fmt: skip
        meter.observe(frame)
    assert 2 <= status() < 3
    assert 2 <= token() < 3
    assert count() == 1


def test_each_stage_is_timed_once(meter: RunMeter) -> None:
    stages = ["queued", "searching", "generating", "streaming"]
    counts = [Change("ragsite_stage_seconds_count", stage=stage) for stage in stages]
    for stage in stages[:-1]:
        meter.observe(Status(stage=stage, message=""))
    meter.observe(Token(text="It"))
    meter.observe(ANSWER)
    assert [count() for count in counts] == [1, 1, 1, 1]


def test_tokens_are_those_the_provider_charged_for(meter: RunMeter) -> None:
    prompt = Change("ragsite_tokens_total", kind="prompt")
    completion = Change("ragsite_tokens_total", kind="completion")
    usage = Usage(prompt_tokens=700, completion_tokens=30)
    meter.observe(ANSWER.model_copy(update={"usage": usage}))
    assert (prompt(), completion()) == (700, 30)


def test_a_run_is_active_until_its_terminal_frame(meter: RunMeter) -> None:
    active = Change("ragsite_active_runs")
    second = RunMeter(time.monotonic())
    assert active() == 1
    second.observe(ANSWER)
    assert active() == 0
    meter.observe(ANSWER)


def test_retries_and_other_warnings_are_counted_apart(meter: RunMeter) -> None:
    retries = Change("ragsite_provider_retries_total", code="rate_limited")
    warnings = Change("ragsite_run_warnings_total", code="rerank_failed")
    meter.observe(WarningFrame(code="rate_limited", message="", retry=1, retry_in_ms=100))
    meter.observe(WarningFrame(code="rerank_failed", message=""))
    meter.observe(ANSWER)
    assert (retries(), warnings()) == (1, 1)


def test_the_time_from_stop_to_the_providers_end_is_measured_once(meter: RunMeter) -> None:
    stops = Change("ragsite_runs_cancelled_total", why="stopped")
    closed = Change("ragsite_provider_close_seconds_count")
    meter.cancelled("stopped")
    meter.cancelled("stopped")
    meter.provider_closed()
    meter.observe(ANSWER)
    assert (stops(), closed()) == (1, 1)


def test_an_answer_that_was_not_stopped_says_nothing_of_stopping(meter: RunMeter) -> None:
    closed = Change("ragsite_provider_close_seconds_count")
    meter.provider_closed()
    meter.observe(ANSWER)
    assert closed() == 0


def test_errors_are_counted_by_their_code(meter: RunMeter) -> None:
    errors = Change("ragsite_run_errors_total", code="timeout")
    ended = Change("ragsite_run_seconds_count", ending="error")
    meter.observe(Error(code="timeout", message="", recoverable=True))
    assert (errors(), ended()) == (1, 1)


async def follow(user: User, text: str = QUESTION) -> Any:
    run = await runs.start(user, Ask(type="ask", text=text))
    return run, [frame async for frame in runs.follow(user, run.id)]


async def test_a_run_is_measured_from_question_to_end(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    ended = Change("ragsite_run_seconds_count", ending="stop")
    active = Change("ragsite_active_runs")
    stages = [
        Change("ragsite_stage_seconds_count", stage=stage)
        for stage in ("queued", "searching", "reranking", "generating", "streaming")
    ]
    generator.script = ["It is 96 m high [1]."]
    await follow(user)
    assert [stage() for stage in stages] == [1, 1, 1, 1, 1]
    assert (ended(), active()) == (1, 0)


async def test_stopping_a_run_is_counted_and_timed(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    stops = Change("ragsite_runs_cancelled_total", why="stopped")
    closed = Change("ragsite_provider_close_seconds_count")
    generator.script = ["Half", asyncio.Event()]
    run = await runs.start(user, Ask(type="ask", text=QUESTION))
    await runs.stop(user, run.id)
    assert (stops(), closed()) == (1, 1)


async def test_the_log_says_how_a_run_ended_and_whose_it_was(
    user: User, tower: Chunk, generator: ScriptedGenerator, log: LogCapture
) -> None:
    generator.script = ["It is 96 m high [1]."]
    run, _ = await follow(user)
    (entry,) = [each for each in log.entries if each["event"] == "run ended"]
    assert entry["ending"] == "stop"
    assert (entry["run"], entry["conversation"], entry["user"]) == (
        str(run.id), str(run.conversation_id), str(user.pk),
    )  # fmt: skip


async def test_neither_question_nor_answer_is_logged(
    user: User,
    tower: Chunk,
    generator: ScriptedGenerator,
    log: LogCapture,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", logger="chat")
    caplog.set_level("DEBUG", logger="retrieval")
    generator.script = ["The zeppelin", BackendError("Gone.", retryable=True, code="dropped")]
    await follow(user, "What of the aqueduct?")
    logged = str(log.entries) + caplog.text
    assert "run ended" in logged
    assert "aqueduct" not in logged
    assert "zeppelin" not in logged


async def test_what_is_bound_to_a_run_does_not_stay_with_whoever_asked(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Yes."]
    await follow(user)
    assert "run" not in structlog.contextvars.get_contextvars()
