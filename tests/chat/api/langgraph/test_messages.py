"""Messages that clients send, and what they are shown."""

from typing import Any

import pytest

from chat.api.langgraph import messages
from chat.api.langgraph.messages import MessagesError
from chat.frames import CitationData, Done, Usage
from retrieval.backends.base import ChatMessage

CITED = CitationData(
    index=1, source_id="c", document_id="d", title="The tower", quote="96 metres", span=(8, 11)
)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "How high?"},
        {"role": "human", "content": "How high?", "id": "7"},
        {"type": "human", "content": "How high?", "additional_kwargs": {}},
        {"type": "human", "content": [{"type": "text", "text": "How "}, "high?"]},
        ["user", "How high?"],
        "How high?",
    ],
)
def test_the_last_message_is_the_question(message: Any) -> None:
    assert messages.question([message]) == ("How high?", [])
    if not isinstance(message, list):
        assert messages.question(message) == ("How high?", [])


def test_what_was_said_before_is_history() -> None:
    said: list[Any] = [
        {"role": "system", "content": "Be short."},
        {"type": "human", "content": "Who built it?"},
        {"type": "ai", "content": ""},
        {"type": "tool", "content": [{"type": "json"}], "tool_call_id": "1"},
        {"type": "AIMessageChunk", "content": "Anna."},
        ["user", "When?"],
    ]
    assert messages.question(said) == (
        "When?",
        [
            ChatMessage("user", "Be short."),
            ChatMessage("user", "Who built it?"),
            ChatMessage("assistant", "Anna."),
        ],
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([], "input.messages: the question is missing."),
        ([{"type": "human", "content": " "}], "input.messages: the last message must be"),
        ([{"type": "ai", "content": "Yes."}], "input.messages: the last message must be"),
        ([{"type": "tool", "content": "1"}], "input.messages: the last message must be"),
        ([{"type": "human"}], "input.messages.0: a message has a type or a role"),
        ([7], "input.messages.0: a message has a type or a role"),
        ([{"type": "human", "content": 7}, "a"], "input.messages.0.content: this is neither"),
        ([{"type": "parrot", "content": "a"}], "input.messages.0: “parrot” is no type"),
        ([{"type": "p\ud83d", "content": "a"}], "input.messages.0: “p” is no type"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}],
            "input.messages.0.content.0: only parts of type text can be read.",
        ),
    ],
)
def test_messages_that_ask_nothing_are_refused(said: Any, message: str) -> None:
    with pytest.raises(MessagesError) as refused:
        messages.question(said)
    assert str(refused.value).startswith(message)


def test_an_answer_has_its_citations_and_what_it_took() -> None:
    usage = Usage(prompt_tokens=10, completion_tokens=2)
    answer = "It is 96 m [1]."
    done = Done(finish_reason="stop", answer=answer, citations=[CITED], usage=usage)
    message = messages.answer("7", done)
    citation = message["additional_kwargs"]["citations"][0]
    assert (message["id"], message["type"], message["content"]) == ("7", "ai", "It is 96 m [1].")
    assert (citation["index"], citation["span"]) == (1, [8, 11])
    assert (citation["title"], citation["document_id"]) == ("The tower", "d")
    assert message["response_metadata"] == {"finish_reason": "stop"}
    assert message["usage_metadata"] == {
        "input_tokens": 10,
        "output_tokens": 2,
        "total_tokens": 12,
    }


def test_a_chunk_says_only_what_is_new() -> None:
    assert messages.chunk("7", "It")["additional_kwargs"] == {}
    assert messages.chunk("7", thinking="Hm.")["additional_kwargs"] == {"reasoning_content": "Hm."}
