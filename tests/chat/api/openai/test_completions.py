from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from chat.api.openai.completions import Chunks, Completion
from chat.api.openai.errors import ApiError
from chat.frames import CitationData, Done, Error, Frame, Snapshot, Status, Thinking, Token, Usage

MESSAGE = UUID("0199d5a0-0000-7000-8000-000000000001")
CITED = CitationData(
    index=1, source_id="c", document_id="d", title="The tower", page=3, quote="", span=(12, 15)
)
COMPLETION = Completion(
    id="chatcmpl-1", created=1, model="Guide", link=lambda citation: f"https://x/{citation.index}"
)


def done(answer: str = "It is high. [1]", **fields: Any) -> Done:
    fields = {"finish_reason": "stop", "citations": [CITED], **fields}
    return Done(answer=answer, message_id=MESSAGE, **fields)


def chunks(*frames: Frame, with_usage: bool = False) -> list[dict[str, Any]]:
    translator = Chunks(COMPLETION, with_usage=with_usage)
    return [translator.begin(), *(each for frame in frames for each in translator.take(frame))]


def deltas(*frames: Frame) -> list[dict[str, Any]]:
    return [each["choices"][0]["delta"] for each in chunks(*frames)]


def test_a_whole_answer_is_what_the_sdk_knows() -> None:
    whole = COMPLETION.whole(done(usage=Usage(prompt_tokens=5, completion_tokens=2)))
    completion = ChatCompletion.model_validate(whole, strict=True)
    message = completion.choices[0].message
    assert message.content == "It is high. [1]"
    assert message.annotations
    citation = message.annotations[0].url_citation
    assert message.content[citation.start_index : citation.end_index] == "[1]"
    assert (citation.title, citation.url) == ("The tower, p. 3", "https://x/1")
    assert completion.usage
    assert completion.usage.total_tokens == 7


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("stop", "stop"), ("length", "length"), ("cancelled", "stop"), ("no_answer", "stop")],
)
def test_every_end_has_a_reason_that_openai_knows(ours: Any, theirs: str) -> None:
    assert COMPLETION.whole(done(finish_reason=ours))["choices"][0]["finish_reason"] == theirs
    assert chunks(done(finish_reason=ours))[-1]["choices"][0]["finish_reason"] == theirs


def test_chunks_have_the_role_first_and_the_reason_last_and_one_id() -> None:
    sent = chunks(Token(text="It is "), Token(text="high. [1]"), done())
    parsed = [ChatCompletionChunk.model_validate(each, strict=True) for each in sent]
    assert {each.id for each in parsed} == {"chatcmpl-1"}
    assert parsed[0].choices[0].delta.role == "assistant"
    assert [each.choices[0].finish_reason for each in parsed] == [None] * 4 + ["stop"]
    assert all(each.usage is None for each in parsed)


def test_annotations_come_in_exactly_one_delta() -> None:
    two = [CITED, CITED.model_copy(update={"span": (16, 19)})]
    sent = deltas(Token(text="It is high. [1] [1]"), done("It is high. [1] [1]", citations=two))
    assert [len(each["annotations"]) for each in sent if "annotations" in each] == [2]


def test_usage_is_a_chunk_without_choices_where_it_is_asked_for() -> None:
    last = chunks(done(usage=Usage(prompt_tokens=3)), with_usage=True)[-1]
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 3}


def test_what_openai_does_not_know_adds_nothing() -> None:
    assert deltas(Status(stage="searching", message="…")) == deltas()


def test_reasoning_is_not_part_of_the_text() -> None:
    assert deltas(Thinking(text="hm"))[-1] == {"reasoning_content": "hm"}


def test_a_failure_is_an_error_object() -> None:
    last = chunks(Error(code="unreachable", message="Away.", recoverable=True))[-1]
    expected = {"message": "Away.", "type": "server_error", "param": None, "code": "unreachable"}
    assert last == {"error": expected}


def test_a_snapshot_adds_what_was_missed() -> None:
    text = "".join(
        each.get("content", "")
        for each in deltas(
            Token(text="It is "), Snapshot(text="It is high.", citations=[]), Token(text=" [1]")
        )
    )
    assert text == "It is high. [1]"


def test_an_answer_that_was_withdrawn_is_not_sent_on() -> None:
    with pytest.raises(ApiError, match="withdrawn"):
        chunks(Token(text="It is "), done("You may no longer see it."))
