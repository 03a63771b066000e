"""What provider backends share, apart from any provider."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from django.test import override_settings

from retrieval.backends import clients
from retrieval.backends.base import BackendError
from retrieval.backends.known_models import estimate_tokens, known


def test_event_lines_may_be_cut_anywhere() -> None:
    lines = clients.EventLines()
    cut = [b": ping\n\nda", b"ta: one\r\n\r\nevent: x\ndata:", b"two\n\ndata: three", b"\n"]
    assert [lines.feed(chunk) for chunk in cut] == [[], [b"one"], [b"two"], [b"three"]]


def test_a_line_without_end_is_malformed() -> None:
    lines = clients.EventLines()
    lines.feed(b"data: " + b"x" * 2**19)
    with pytest.raises(BackendError) as caught:
        lines.feed(b"x" * 2**20)
    assert caught.value.code == "malformed"


@override_settings(PROVIDER_TOKEN_TIMEOUT=0.01)
async def test_a_stream_that_falls_silent_is_closed():
    closed = asyncio.Event()

    async def silent():
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            closed.set()

    with pytest.raises(BackendError) as caught:
        [item async for item in clients.timed(silent())]
    assert caught.value.code == "timeout"
    assert closed.is_set()


def test_retry_after_is_seconds_or_a_date():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert clients.retry_after({"Retry-After": "2.5"}) == 2.5
    assert clients.retry_after({"retry-after": soon}) == pytest.approx(60, abs=2)
    assert clients.retry_after({"Retry-After": "-3"}) == 0
    assert clients.retry_after({"Retry-After": "soon"}) is None
    assert clients.retry_after({}) is None


def test_only_what_may_help_is_tried_again():
    assert clients.worth_retrying(clients.error("timeout")) is True
    assert clients.worth_retrying(clients.error("rate_limited", 3)) == 3
    assert clients.worth_retrying(clients.error("unauthorized")) is False
    assert clients.worth_retrying(ValueError()) is False


def test_models_are_known_with_owner_and_tag():
    assert known("BAAI/bge-m3").dimensions == 1024
    assert known("nomic-embed-text:v1.5").query_prefix == "search_query: "
    assert known("something-else").dimensions == 0


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("The lighthouse was built in 1871.", 8),
        ("灯塔建于1871年。", 9),
        ("", 0),
        ("x" * 4000, 1000),
    ],
)
def test_token_estimates_are_rather_too_high(text, least):
    assert estimate_tokens(text) >= least
