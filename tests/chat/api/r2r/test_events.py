"""Frames as the events that the R2R SDK parses."""

from collections.abc import Sequence
from typing import Any

import pytest
from uuid_utils.compat import uuid7

from chat.api.r2r.events import DONE, Event, Telling
from chat.api.r2r.results import Result, results
from chat.api.streaming import to_json
from chat.frames import (
    Citation,
    Done,
    Error,
    Frame,
    Grounding,
    SearchResults,
    Snapshot,
    Source,
    Status,
    Thinking,
    Token,
    WarningFrame,
)
from tests.chat.api.r2r import sdk

RUN = uuid7()
DOCUMENT = "0190b0a5-7f5e-7c39-8d3f-0000000000ff"
CHUNK = "0190b0a5-7f5e-7c39-8d3f-000000000001"
SOURCE = Source(index=1, source_id=CHUNK, document_id=DOCUMENT, title="T", snippet="Tall.")
CITED = {"index": 1, "source_id": CHUNK, "document_id": DOCUMENT, "title": "T", "quote": "Tall."}
FOUND = SearchResults(results=[SOURCE], query="How tall?", retrieval_ms=1)


async def describe(sources: Sequence[Source]) -> list[Result]:
    return results(sources, {})


async def told(*frames: Frame) -> list[Event]:
    telling = Telling(describe)
    return [
        event
        for seq, frame in enumerate(frames, 1)
        for event in await telling.events(frame.numbered(RUN, seq))
    ]


def parsed(events: list[Event]) -> list[Any]:
    """Return the events as the SDK gives them to its caller."""
    raw = [
        {
            "event": name,
            "data": " " + (data if isinstance(data, str) else to_json(data)),
        }
        for name, data in events
    ]
    return [sdk.parse_retrieval_event(each) for each in raw]


async def test_answer_is_told_in_order() -> None:
    """Frames that R2R has no event for are left out."""
    events = await told(
        Status(stage="searching", message="…"),
        FOUND,
        WarningFrame(code="c", message="m"),
        Thinking(text="Hm."),
        Token(text="Tall [1]"),
        Citation(**CITED, span=(5, 8), is_new=True, source=SOURCE),
        Token(text=" and old [1]."),
        Citation(**CITED, span=(17, 20), is_new=False),
        Grounding(verdict="grounded"),
        Done(
            finish_reason="stop",
            answer="Tall [1] and old [1].",
            citations=[{**CITED, "span": (5, 8)}, {**CITED, "span": (17, 20)}],
        ),
    )
    assert [event.name for event in events] == [
        "search_results", "thinking", "message", "citation", "message", "citation",
        "final_answer", "done",
    ]  # fmt: skip
    found, thinking, first, new, second, again, answer, done = parsed(events)
    assert str(found.data.data.chunk_search_results[0].id) == CHUNK
    assert thinking.data.delta.content[0].payload.value == "Hm."
    pieces = [each.data.delta.content[0].payload.value for each in (first, second)]
    text = answer.data.generated_answer
    assert "".join(pieces) == text
    for each, is_new in ((new, True), (again, False)):
        assert text[each.data.span.start : each.data.span.end] == "[1]"
        assert (each.data.id, each.data.is_new, bool(each.data.payload)) == ("1", is_new, is_new)
    assert new.data.payload["id"] == CHUNK
    assert [each.is_new for each in answer.data.citations] == [True, False]
    assert answer.data.citations[0].payload["id"] == CHUNK
    assert done is None


async def test_results_come_first_where_none_were_told_of() -> None:
    """A program can rely on it."""
    events = await told(
        Token(text="Hello."), Done(finish_reason="stop", answer="Hello.", citations=[])
    )
    assert [event.name for event in events] == ["search_results", "message", "final_answer", "done"]
    assert parsed(events)[0].data.data.chunk_search_results == []


async def test_failure_is_told_and_ends_the_stream() -> None:
    events = await told(
        FOUND, Token(text="Tall"), Error(code="dropped", message="It broke off.", recoverable=True)
    )
    assert [event.name for event in events] == ["search_results", "message", "error", "done"]
    assert parsed(events)[2].data == {"message": "It broke off.", "error_type": "dropped"}


async def test_source_that_was_not_among_the_results_is_described() -> None:
    """Of many passages in a prompt the results are only the best."""
    events = await told(
        FOUND.model_copy(update={"results": []}),
        Token(text="Tall [1]"),
        Citation(**CITED, span=(5, 8), is_new=True, source=SOURCE),
        Done(finish_reason="stop", answer="Tall [1]", citations=[{**CITED, "span": (5, 8)}]),
    )
    _, _, citation, answer, _ = parsed(events)
    assert citation.data.payload["id"] == CHUNK
    assert answer.data.citations[0].payload["id"] == CHUNK


@pytest.mark.parametrize(
    ("whole", "rest"), [("Tall and old.", " and old."), ("Tall", None), ("Short.", None)]
)
async def test_reader_is_caught_up_by_what_it_lacks(whole: str, rest: str | None) -> None:
    """What it was told cannot be taken back."""
    events = await told(FOUND, Token(text="Tall"), Snapshot(text=whole, citations=[]))
    _, _, *more = parsed(events)
    assert [each.data.delta.content[0].payload.value for each in more] == ([rest] if rest else [])


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\n", "é", "🦆"])
async def test_no_character_of_an_answer_ends_a_line(character: str) -> None:
    """The SDK cuts at all that Python takes for the end of one."""
    (_, event) = await told(Token(text=f"a{character}b"))
    assert not isinstance(event.data, str)
    data = to_json(event.data)
    assert data.splitlines() == [data]
    assert data.isascii()
    assert parsed([event])[0].data.delta.content[0].payload.value == f"a{character}b"


def test_end_is_no_json() -> None:
    assert DONE == ("done", "[DONE]")
    assert parsed([DONE]) == [None]
