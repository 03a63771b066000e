from __future__ import annotations

from typing import Any
from uuid import UUID

from chat.client.events import Events, StreamEvent
from chat.frames import CitationData, Done, Error, Frame, Snapshot, Status, Thinking, Token, Usage

RUN, THREAD, QUESTION, ANSWER = (UUID(int=number) for number in range(1, 5))
FIRST = Status(
    run=RUN,
    seq=1,
    stage="queued",
    message="",
    conversation=THREAD,
    question=QUESTION,
    answer=ANSWER,
)
CITED = CitationData(index=1, source_id="c", document_id="d", title="T", quote="", span=(3, 6))


def events(*frames: Frame, thinking: bool = True) -> list[StreamEvent]:
    translator = Events(thinking=thinking)
    translator.begin(FIRST, "How high?")
    return [event for frame in frames for event in translator.take(frame)]


def done(answer: str, **fields: Any) -> Done:
    return Done(finish_reason="stop", answer=answer, citations=[], **fields)


def test_a_piece_is_a_delta_of_the_answers_message() -> None:
    assert events(Token(text="96 ")) == [
        StreamEvent("messages-tuple", {"type": "ai", "content": "96 ", "id": str(ANSWER)})
    ]


def test_the_end_comes_last_with_what_was_used() -> None:
    last = events(Token(text="96"), done("96", usage=Usage(prompt_tokens=3, completion_tokens=1)))
    assert [event.type for event in last] == ["messages-tuple", "values", "end"]
    assert last[-1].data == {
        "usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
        "finish_reason": "stop",
        "thread_id": str(THREAD),
        "run_id": str(RUN),
    }


def test_values_are_the_whole_state_with_the_citations() -> None:
    ending = Done(finish_reason="stop", answer="96 [1]", citations=[CITED])
    values = events(Token(text="96 [1]"), ending)[-2]
    question, answer = values.data["messages"]
    assert question == {"type": "human", "content": "How high?", "id": str(QUESTION)}
    assert (answer["type"], answer["content"]) == ("ai", "96 [1]")
    assert answer["additional_kwargs"]["citations"][0]["span"] == [3, 6]
    assert values.data["artifacts"] == []


def test_what_was_said_before_comes_first_and_nothing_twice() -> None:
    translator = Events()
    translator.begin(FIRST, "How high?")
    earlier = [{"type": "human", "content": "Hello", "id": "1"}]
    translator.know("Towers", [*earlier, {"type": "human", "content": "…", "id": str(QUESTION)}])
    values = translator.values().data
    assert values["title"] == "Towers"
    assert [message["content"] for message in values["messages"]] == ["Hello", "How high?"]


def test_an_answer_that_breaks_off_has_an_error_before_its_end() -> None:
    failed = events(Token(text="96"), Error(code="timeout", message="Late.", recoverable=True))
    assert [event.type for event in failed] == ["messages-tuple", "values", "error", "end"]
    assert failed[2].data == {"code": "timeout", "message": "Late.", "recoverable": True}
    assert failed[3].data["finish_reason"] == "error"


def test_reasoning_is_beside_the_text_and_can_be_left_out() -> None:
    (event,) = events(Thinking(text="hm"))
    assert (event.data["content"], event.data["additional_kwargs"]) == (
        "",
        {"reasoning_content": "hm"},
    )
    assert events(Thinking(text="hm"), thinking=False) == []


def test_a_snapshot_adds_what_was_missed() -> None:
    pieces = events(Token(text="96 "), Snapshot(text="96 metres", citations=[]), done("96 metres."))
    texts = [each.data["content"] for each in pieces if each.type == "messages-tuple"]
    assert texts == ["96 ", "metres", "."]


def test_an_answer_that_was_withdrawn_is_what_the_state_says() -> None:
    gone = events(Token(text="96 "), done("You may no longer see it."))
    assert [event.type for event in gone] == ["messages-tuple", "values", "end"]
    assert gone[1].data["messages"][-1]["content"] == "You may no longer see it."
