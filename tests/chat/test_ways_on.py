"""Every error has one way on, which the page knows by its code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chat.ways_on import WAYS, Way, way_on

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()


def documented() -> set[str]:
    """Return the codes of the protocol's page."""
    table = PAGE.partition("### Error codes")[2].partition("\n\nWith")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return {code for row in rows for code in re.findall(r"`(\w+)`", row)}


def test_only_codes_of_the_protocol_have_a_way_of_their_own() -> None:
    assert set(WAYS) <= documented()


@pytest.mark.parametrize("code", ["interrupted", "rate_limited", "draining", "anything"])
def test_what_may_go_better_is_tried_again(code: str) -> None:
    assert way_on(code) is Way.AGAIN


def test_a_conversation_that_does_not_go_on_leads_to_a_new_one() -> None:
    assert way_on("access_lost") is Way.NEW
