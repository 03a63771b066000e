"""Spans of runs, and nothing at all without OpenTelemetry."""

import time
from collections.abc import Iterator

import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from chat import tracing
from chat.frames import Done, Error, Status, Token
from chat.metrics import RunMeter


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Collect the spans that are made."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_a_run_is_a_span_and_its_stages_are_its_children(exporter: InMemorySpanExporter) -> None:
    with structlog.contextvars.bound_contextvars(run="r1"):
        meter = RunMeter(time.monotonic() - 2)
        meter.observe(Status(stage="searching", message=""))
        meter.observe(Status(stage="generating", message=""))
        meter.observe(Token(text="Yes."))
        meter.observe(Done(finish_reason="stop", answer="Yes.", citations=[]))
    *stages, run = exporter.get_finished_spans()
    assert [span.name for span in stages] == ["searching", "generating", "streaming"]
    assert all(span.parent and span.parent.span_id == run.context.span_id for span in stages)
    assert run.attributes == {"ragsite.run": "r1", "ragsite.ending": "stop"}
    assert run.start_time is not None
    assert run.end_time is not None
    assert 2e9 <= run.end_time - run.start_time < 3e9


def test_a_run_that_failed_is_a_failed_span(exporter: InMemorySpanExporter) -> None:
    meter = RunMeter(time.monotonic())
    meter.observe(Error(code="timeout", message="", recoverable=True))
    (run,) = exporter.get_finished_spans()
    assert (run.status.status_code, run.status.description) == (StatusCode.ERROR, "timeout")


def test_without_opentelemetry_runs_are_measured_all_the_same(
    exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "INSTALLED", False)
    meter = RunMeter(time.monotonic())
    meter.observe(Status(stage="searching", message=""))
    meter.observe(Done(finish_reason="stop", answer="Yes.", citations=[]))
    assert not exporter.get_finished_spans()
