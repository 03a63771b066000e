"""What callers are told of what goes wrong, whatever the shape."""

from __future__ import annotations

import pytest

from chat.api import refusing
from chat.frames import Error


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("unauthorized", 502),
        ("unreachable", 502),
        ("timeout", 504),
        ("rate_limited", 503),
        ("context_too_long", 400),
        ("internal", 500),
    ],
)
def test_an_answer_that_broke_off_is_told_by_whose_fault_it_was(code: str, status: int) -> None:
    frame = Error(code=code, message="It broke off.", recoverable=True, retry_in_ms=1500)
    told = refusing.refusal(refusing.AnswerError(frame))
    assert (told.status, told.code, told.headers) == (status, code, {"Retry-After": "2"})
