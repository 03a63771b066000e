"""Stop and leaving end the provider's stream: real sockets' frames, real HTTP, the real SDK.

Provider faults of every kind become an error frame with a code, and the partial answer stays.
"""

import time
from itertools import repeat
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from chat.models import Message, Role, Run
from retrieval.models import Chunk
from tests.chat.test_consumers import QUESTION, frames_until, visit
from tests.provider import Answer, Provider

__all__ = ["visit"]


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


@pytest.mark.parametrize(
    ("answer", "code", "partial"),
    [
        (Answer(status=401), "unauthorized", ""),
        (Answer(status=429, headers={"Retry-After": "1"}), "rate_limited", ""),
        (Answer(status=500), "provider_error", ""),
        (Answer(status=503), "provider_error", ""),
        (Answer(tokens=["Half ", "an ", "answer"], drop_after=2), "dropped", "Half an "),
        (Answer(tokens=["Half ", "an ", "answer"], malformed_after=2), "malformed", "Half an "),
        (Answer(tokens=["Half ", "an ", "answer"], stall_after=2), "timeout", "Half an "),
        (Answer(tokens=["Half"], finish_reason="content_filter"), "content_filter", "Half"),
        (Answer(tokens=[]), "empty", ""),
    ],
)
async def test_a_fault_is_an_error_frame_and_the_partial_answer_stays(  # noqa: PLR0917
    user: User,
    tower: Chunk,
    configured: Provider,
    visit: Any,
    settings: Settings,
    answer: Answer,
    code: str,
    partial: str,
) -> None:
    settings.PROVIDER_TOKEN_TIMEOUT = 0.5
    configured.default = answer
    page = await visit(user)
    await page.connect()
    await page.send_json_to(QUESTION)
    error = (await frames_until(page, "error", "done"))[-1]
    assert (error["type"], error["code"]) == ("error", code)
    assert "secret" not in error["message"]
    stored = await Message.objects.aget(role=Role.ASSISTANT)
    assert stored.text.strip() == partial.strip()


async def test_a_provider_that_cannot_be_reached_is_an_error_frame(
    user: User, tower: Chunk, configured: Provider, visit: Any, settings: Settings
) -> None:
    backends = settings.RAG_BACKENDS
    options = {"model": "test", "base_url": "http://127.0.0.1:9/v1", "api_key": "test"}
    settings.RAG_BACKENDS = backends | {"generator": backends["generator"] | {"OPTIONS": options}}
    page = await visit(user)
    await page.connect()
    await page.send_json_to(QUESTION)
    assert (await frames_until(page, "error"))[-1]["code"] == "unreachable"
