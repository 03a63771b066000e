"""What templates say about times and scores."""

from __future__ import annotations

from datetime import date

import pytest

from chat.models import Candidate
from chat.templatetags.conversations import period
from chat.templatetags.runs import named, score

TODAY = date(2026, 11, 29)


@pytest.mark.parametrize(
    ("day", "name"),
    [
        (date(2026, 11, 30), "Today"),  # a clock that is ahead
        (date(2026, 11, 29), "Today"),
        (date(2026, 11, 28), "Yesterday"),
        (date(2026, 11, 23), "Last 7 days"),
        (date(2026, 11, 22), "November"),
        (date(2026, 1, 1), "January"),
        (date(2025, 12, 31), "December 2025"),
    ],
)
def test_days_are_named_as_seen_from_today(day: date, name: str) -> None:
    assert period(day, TODAY) == name


def test_timings_are_named_for_people() -> None:
    assert named({"first_token_ms": 3, "prompt_tokens": 4}) == [
        ("first token", 3),
        ("prompt tokens", 4),
    ]


def test_a_stage_that_gave_no_score_has_none() -> None:
    candidate = Candidate(scores={"vector": 0.5})
    assert score(candidate, "vector") == 0.5
    assert score(candidate, "reranked") is None
