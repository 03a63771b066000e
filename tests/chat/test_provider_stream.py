"""Stop and leaving end the provider's stream: real sockets' frames, real HTTP, the real SDK.

Provider faults of every kind become an error frame with a code, and the partial answer stays.
"""

import time
from itertools import repeat
from typing import Any

import pytest
import stamina
from django.contrib.auth.models import User
from pytest_django import Settings

from chat.models import Run
from retrieval.models import Chunk
from tests.provider import Answer, Provider
from tests.servers import free_port
from tests.sockets import QUESTION, frames_until


@pytest.fixture
def configured(provider: Provider, settings: Settings) -> Provider:
    """Point the OpenAI generator at the test suite's provider."""
    settings.ANSWER_THRESHOLD = 0
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {
            "BACKEND": "retrieval.backends.openai.OpenAIGenerator",
            "OPTIONS": {"model": "test", "base_url": provider.url, "api_key": "test"},
        },
    }
    provider.default = Answer(tokens=repeat("word "))
    return provider


async def begin(visit: Any, user: User) -> Any:
    """Ask, and read up to the first token."""
    page = await visit(user)
    await page.connect()
    await page.send_json_to(QUESTION)
    await frames_until(page, "token")
    return page


async def test_stop_closes_the_providers_stream_within_a_second(
    user: User, tower: Chunk, configured: Provider, visit: Any
) -> None:
    page = await begin(visit, user)
    stopped = time.monotonic()
    await page.send_json_to({"type": "stop"})
    request = await configured.request()
    closed = await request.wait_closed()
    assert closed - stopped < 1
    assert request.disconnected
    assert request.tokens_after(closed) == 0


async def test_leaving_for_good_closes_the_providers_stream_within_a_second(
    user: User, tower: Chunk, configured: Provider, visit: Any, settings: Settings
) -> None:
    settings.RUN_GRACE_SECONDS = 0
    page = await begin(visit, user)
    left = time.monotonic()
    await page.disconnect()
    request = await configured.request()
    closed = await request.wait_closed()
    assert closed - left < 1
    assert request.tokens_after(closed) == 0


async def test_a_reader_that_comes_back_in_time_keeps_the_stream(
    user: User, tower: Chunk, configured: Provider, visit: Any
) -> None:
    configured.default = Answer(tokens=["One. ", "Two. ", "Three."])
    configured.hold()
    configured.release(1)
    page = await begin(visit, user)
    run = await Run.objects.aget()
    await page.disconnect()
    back = await visit(user)
    await back.connect()
    await back.send_json_to({"type": "resume", "run": str(run.id), "after": 0})
    configured.resume()
    assert (await frames_until(back, "done"))[-1]["answer"] == "One. Two. Three."


async def frames_of(visit: Any, user: User) -> list[dict[str, Any]]:
    """Ask, and return all frames of the run."""
    page = await visit(user)
    await page.connect()
    await page.send_json_to(QUESTION)
    return await frames_until(page, "error", "done")


def warnings(frames: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """Return the warnings' codes, which attempt failed, and how long the wait is."""
    found = [frame for frame in frames if frame["type"] == "warning"]
    return [(frame["code"], frame["retry"], frame["retry_in_ms"]) for frame in found]


HALF = ["Half ", "an ", "answer"]
TOO_LONG = "maximum context length is 8192 tokens: secret detail"


@pytest.mark.parametrize(
    ("answer", "code", "recoverable", "partial", "requests"),
    [
        (Answer(status=401), "unauthorized", False, "", 1),
        (Answer(status=404), "bad_request", False, "", 1),
        (Answer(status=400, error=TOO_LONG), "context_too_long", False, "", 1),
        (Answer(status=429, error="insufficient_quota secret"), "rate_limited", False, "", 1),
        (Answer(status=429), "rate_limited", True, "", 3),
        (Answer(status=429, headers={"Retry-After": "1"}), "rate_limited", True, "", 3),
        (Answer(status=500), "provider_error", True, "", 3),
        (Answer(status=503), "provider_error", True, "", 3),
        (Answer(tokens=[]), "empty", True, "", 3),
        (Answer(tokens=HALF, stall_after=0), "timeout", True, "", 3),
        (Answer(tokens=HALF, drop_after=0), "dropped", True, "", 3),
        (Answer(tokens=HALF, malformed_after=0), "malformed", True, "", 3),
        (Answer(tokens=HALF, stall_after=2), "timeout", True, "Half an ", 1),
        (Answer(tokens=HALF, drop_after=2), "dropped", True, "Half an ", 1),
        (Answer(tokens=HALF, malformed_after=2), "malformed", True, "Half an ", 1),
        (Answer(tokens=HALF, fail_after=2), "provider_error", True, "Half an ", 1),
        (Answer(tokens=HALF, finish_reason=None), "dropped", True, "Half an answer", 1),
        (
            Answer(tokens=["Half"], finish_reason="content_filter"),
            "content_filter",
            False,
            "Half",
            1,
        ),
        (Answer(tokens=[], finish_reason="content_filter"), "content_filter", False, "", 1),
    ],
)
async def test_a_fault_is_an_error_frame_and_the_partial_answer_stays(  # noqa: PLR0917
    user: User,
    tower: Chunk,
    configured: Provider,
    visit: Any,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    code: str,
    recoverable: bool,
    partial: str,
    requests: int,
) -> None:
    if code == "timeout":
        settings.PROVIDER_FIRST_TOKEN_TIMEOUT = 0.25
        settings.PROVIDER_TOKEN_TIMEOUT = 0.5
    configured.default = answer
    frames = await frames_of(visit, user)
    error = frames[-1]
    assert (error["type"], error["code"], error["recoverable"]) == ("error", code, recoverable)
    assert len(configured.requests) == requests
    assert [(warned, retry) for warned, retry, _ in warnings(frames)] == [
        (code, attempt) for attempt in range(1, requests)
    ]
    assert "secret" not in str(frames)
    run = await Run.objects.select_related("answer").aget()
    assert (run.state, run.error_code) == ("failed", code)
    assert run.answer.text.strip() == partial.strip()
    assert "".join(frame["text"] for frame in frames if frame["type"] == "token") == run.answer.text
    told = [record for record in caplog.records if str(run.id) in record.getMessage()]
    assert any(code in record.getMessage() for record in told)


async def test_a_wait_the_provider_asks_for_is_told_and_kept(
    user: User, tower: Chunk, configured: Provider, visit: Any
) -> None:
    stamina.set_testing(False)
    configured.script(Answer(status=429, headers={"Retry-After": "1"}))
    configured.default = Answer(tokens=["It is high."])
    frames = await frames_of(visit, user)
    assert warnings(frames) == [("rate_limited", 1, 1000)]
    assert frames[-1]["answer"] == "It is high."
    refused, answered = configured.requests
    assert answered.produced[0] - refused.closed.result() >= 1


async def test_without_such_a_wait_it_is_tried_again_soon(
    user: User, tower: Chunk, configured: Provider, visit: Any
) -> None:
    stamina.set_testing(False)
    configured.script(Answer(status=429))
    configured.default = Answer(tokens=["It is high."])
    frames = await frames_of(visit, user)
    [(code, retry, wait)] = warnings(frames)
    assert (code, retry) == ("rate_limited", 1)
    assert 0 < wait <= 1000
    assert frames[-1]["finish_reason"] == "stop"
    refused, answered = configured.requests
    assert answered.produced[0] - refused.closed.result() < 2


@pytest.mark.parametrize("address", ["refused", "untrusted"])
async def test_a_provider_that_cannot_be_reached_is_an_error_frame(  # noqa: PLR0917
    user: User,
    tower: Chunk,
    configured: Provider,
    visit: Any,
    settings: Settings,
    untrusted_provider: Provider,
    address: str,
) -> None:
    url = untrusted_provider.url if address == "untrusted" else f"http://127.0.0.1:{free_port()}/v1"
    backends = settings.RAG_BACKENDS
    options = {"model": "test", "base_url": url, "api_key": "test"}
    settings.RAG_BACKENDS = backends | {"generator": backends["generator"] | {"OPTIONS": options}}
    frames = await frames_of(visit, user)
    error = frames[-1]
    assert (error["type"], error["code"], error["recoverable"]) == ("error", "unreachable", True)
    assert [(code, retry) for code, retry, _ in warnings(frames)] == [
        ("unreachable", 1),
        ("unreachable", 2),
    ]
    said = str(frames).lower()
    assert not any(word in said for word in ("certificate", "ssl", "127.0.0.1", "errno"))
    assert not untrusted_provider.requests
    assert (await Run.objects.aget()).state == "failed"
