"""A run's frames as events: which, in what order, and from where a reader goes on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, get_args
from uuid import UUID

import pytest

from chat.api.langgraph import messages
from chat.api.langgraph.events import BEGINNING, Event, Mode, Part, Position, Translation
from chat.frames import (
    Citation,
    CitationData,
    Done,
    Error,
    Frame,
    Snapshot,
    Status,
    Thinking,
    Token,
    Usage,
)
from chat.models import Run

RUN = UUID("019abcde-0000-7000-8000-000000000001")
QUESTION = UUID("019abcde-0000-7000-8000-000000000002")
ANSWER = UUID("019abcde-0000-7000-8000-000000000003")
MODES: Sequence[Mode] = get_args(Mode)
TEXT = "It is 96 m [1]."
CITED = CitationData(
    index=1, source_id="c", document_id="d", title="The tower", quote="96 m", span=(11, 14)
)
DONE = Done(
    message_id=ANSWER,
    finish_reason="stop",
    answer=TEXT,
    citations=[CITED],
    usage=Usage(prompt_tokens=10, completion_tokens=2),
)
FAILED = Error(code="unreachable", message="The provider is away.", recoverable=True)
ASKED = messages.human(QUESTION, "How high?")


def numbered(*frames: Frame) -> list[Frame]:
    first = Status(stage="queued", message="", question=QUESTION, answer=ANSWER)
    return [frame.numbered(RUN, seq) for seq, frame in enumerate([first, *frames], 1)]


FRAMES = numbered(
    Status(stage="searching", message="Searching"),
    Thinking(text="Hm."),
    Token(text="It is 96 m "),
    Token(text="[1]"),
    Citation(**CITED.model_dump(), is_new=True),
    Token(text="."),
    DONE,
)


def read(frames: Sequence[Frame], *modes: Mode, after: Position = BEGINNING) -> list[Event]:
    run = Run(id=RUN, question_id=QUESTION, answer_id=ANSWER)
    translation = Translation(run, modes, {"graph_id": "towers"}, after)
    translation.before = [ASKED]
    return [event for frame in frames for event in translation.events(frame)]


def names(events: Sequence[Event]) -> list[str]:
    return [event.name for event in events]


def test_values_are_the_state_with_the_question_and_with_the_answer() -> None:
    metadata, asked, answered, end = read(FRAMES, "values")
    assert (metadata.name, metadata.data) == ("metadata", {"run_id": str(RUN)})
    assert (asked.name, asked.data) == ("values", {"messages": [ASKED]})
    answer = messages.answer(ANSWER, DONE)
    assert (answered.name, answered.data) == ("values", {"messages": [ASKED, answer]})
    assert (end.name, end.data) == ("end", None)


def test_chunks_of_messages_tuple_add_up_to_the_answer() -> None:
    events = read(FRAMES, "messages-tuple")
    assert names(events) == ["metadata", *["messages"] * 5, "end"]
    chunks = [event.data[0] for event in events[1:-1]]
    assert {(chunk["type"], chunk["id"]) for chunk in chunks} == {("AIMessageChunk", str(ANSWER))}
    assert [chunk["content"] for chunk in chunks] == ["", "It is 96 m ", "[1]", ".", ""]
    assert chunks[0]["additional_kwargs"] == {"reasoning_content": "Hm."}
    assert [c["index"] for c in chunks[-1]["additional_kwargs"]["citations"]] == [1]
    assert events[1].data[1] == {
        "langgraph_node": "answer",
        "langgraph_step": 1,
        "graph_id": "towers",
    }


def test_messages_are_the_answer_so_far_then_complete() -> None:
    events = read(FRAMES, "messages")
    partial = "messages/partial"
    assert names(events) == [
        "metadata",
        "messages/metadata",
        *[partial] * 3,
        "messages/complete",
        "end",
    ]
    assert list(events[1].data) == [str(ANSWER)]
    shown = [event.data[0] for event in events[2:-1]]
    assert [m["content"] for m in shown] == ["It is 96 m ", "It is 96 m [1]", TEXT, TEXT]
    assert {(m["type"], m["id"]) for m in shown} == {("ai", str(ANSWER))}
    cited = [len(m["additional_kwargs"]["citations"]) for m in shown]
    assert cited == [0, 0, 1, 1]


def test_custom_events_are_the_frames() -> None:
    events = read(FRAMES, "custom")
    assert names(events) == ["metadata", *["custom"] * 8, "end"]
    assert [event.data for event in events[1:-1]] == [f.model_dump(mode="json") for f in FRAMES]


def test_updates_are_what_the_answer_adds() -> None:
    metadata, update, end = read(FRAMES, "updates")
    assert [metadata.name, update.name, end.name] == ["metadata", "updates", "end"]
    assert update.data == {"answer": {"messages": [messages.answer(ANSWER, DONE)]}}


def test_only_modes_that_are_asked_for_are_shown_in_one_order() -> None:
    assert names(read(FRAMES)) == ["metadata", "end"]
    several = names(read(FRAMES, "custom", "messages-tuple", "values"))
    assert several[:4] == ["metadata", "custom", "values", "custom"]
    assert several[-4:] == ["messages", "values", "custom", "end"]


def test_a_failed_run_says_how_and_ends() -> None:
    events = read(numbered(Token(text="It "), FAILED), "values", "messages-tuple")
    assert names(events) == ["metadata", "values", "messages", "error", "end"]
    assert events[-2].data == {"error": "unreachable", "message": "The provider is away."}


def test_a_run_stopped_before_it_said_anything_leaves_the_question() -> None:
    stopped = Done(finish_reason="cancelled", answer="", citations=[])
    events = read(numbered(stopped), "values", "messages")
    assert names(events) == ["metadata", "values", "values", "end"]
    assert events[2].data == {"messages": [ASKED]}


def test_ids_grow_and_survive_being_written_down() -> None:
    ids = [event.id for event in read(FRAMES, *MODES)]
    assert all(one < other for one, other in pairwise(ids))
    assert [Position.parse(str(each)) for each in ids] == ids


@pytest.mark.parametrize("written", [None, "", "-1", "7", "1-2-3-4", "a-b-c", "1-2-3\n", "1-123-1"])
def test_what_is_no_id_stands_for_the_beginning(written: str | None) -> None:
    assert Position.parse(written) == BEGINNING


@pytest.mark.parametrize("ending", [DONE, FAILED])
@pytest.mark.parametrize("modes", [MODES, ("values",), ("messages-tuple",), ("messages", "custom")])
def test_nothing_is_lost_or_repeated_wherever_a_reader_comes_back(
    modes: Sequence[Mode], ending: Frame
) -> None:
    frames = [*FRAMES[:-1], ending.numbered(RUN, len(FRAMES))]
    whole = read(frames, *modes)
    for number, event in enumerate(whole, 1):
        # The end is said again to whoever has it already.
        expected = whole[number:] or whole[-1:]
        assert read(frames, *modes, after=Position.parse(str(event.id))) == expected


def content(events: Sequence[Event]) -> str:
    return "".join(event.data[0]["content"] for event in events if event.name == "messages")


FORGOTTEN: list[Frame] = [
    # How many frames there were is forgotten, too.
    Snapshot(text=TEXT, citations=[CITED]).numbered(RUN, 1),
    DONE.numbered(RUN, 2),
]


@pytest.mark.parametrize("mode", MODES)
def test_a_run_whose_frames_are_forgotten_can_still_be_read(mode: Mode) -> None:
    expected = {
        "values": ["values", "values"],
        "updates": ["updates"],
        "messages-tuple": ["messages", "messages"],
        "messages": ["messages/metadata", "messages/partial", "messages/complete"],
        "custom": ["custom", "custom"],
    }
    events = read(FORGOTTEN, mode)
    assert names(events) == ["metadata", *expected[mode], "end"]
    if mode == "messages-tuple":
        assert content(events) == TEXT


def test_who_comes_back_when_frames_are_forgotten_gets_the_rest_of_the_text() -> None:
    modes: Sequence[Mode] = ("messages-tuple", "values", "custom")
    for earlier in (FRAMES, FORGOTTEN):
        whole = read(earlier, *modes)
        for number, event in enumerate(whole, 1):
            rest = read(FORGOTTEN, *modes, after=event.id)
            assert content(whole[:number]) + content(rest) == TEXT
            both = names([*whole[:number], *rest])
            assert (both.count("metadata"), both.count("values")) == (1, 2)
            if event.part >= Part.LAST_CHUNK:
                assert names(rest) == (names(whole[number:]) or ["end"])


def test_who_had_more_than_was_saved_learns_how_it_ended() -> None:
    """A process was killed: what its last readers saw was not stored."""
    ahead = read(FRAMES[:-1], *MODES)
    saved: list[Any] = FRAMES[:4]
    kept = Snapshot(text="It is 96 m ", citations=[]).numbered(RUN, 4)
    frames = [*saved, kept, FAILED.numbered(RUN, 5)]
    for event in ahead:
        rest = read(frames, *MODES, after=event.id)
        assert names(rest)[-3:] == ["custom", "error", "end"]
        assert content(rest) == "It is 96 m "[event.id.chars :]
