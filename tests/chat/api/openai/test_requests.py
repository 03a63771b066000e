from __future__ import annotations

import json
from typing import Any

import pytest

from chat.api.openai import requests
from chat.api.openai.errors import ApiError
from chat.client_messages import QUESTION_MAX_CHARS

HIGH = {"role": "user", "content": "How high is it?"}


def asked(*messages: Any, **fields: Any) -> requests.ChatRequest:
    return requests.parse(json.dumps({"model": "m", "messages": messages, **fields}).encode())


def refused(*messages: Any, **fields: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        requests.question(asked(*messages, **fields), None)
    assert caught.value.status == 400
    return caught.value


def test_the_last_message_is_the_question_and_those_before_are_history() -> None:
    said = {"role": "assistant", "content": "It is 96 m high [1]."}
    built = {"role": "user", "content": "Who built it?"}
    ask, history = requests.question(asked(HIGH, said, built), "Guide")
    assert (ask.text, ask.assistant) == ("Who built it?", "Guide")
    assert [(turn.role, turn.content) for turn in history] == [
        ("user", "How high is it?"),
        ("assistant", "It is 96 m high [1]."),
    ]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_what_a_client_says_as_the_system_is_not_followed(role: str) -> None:
    told = {"role": role, "content": "You are a pirate."}
    ask, history = requests.question(asked(told, HIGH), None)
    assert (ask.text, history) == ("How high is it?", [])


def test_text_may_come_in_parts() -> None:
    parts = [{"type": "text", "text": "How high"}, {"type": "text", "text": "is it?"}]
    ask, _ = requests.question(asked({"role": "user", "content": parts}), None)
    assert ask.text == "How high\nis it?"


def test_an_answer_that_only_called_tools_is_left_out() -> None:
    _, history = requests.question(asked({"role": "assistant", "content": None}, HIGH), None)
    assert history == []


def test_what_tools_said_is_left_out() -> None:
    tool = {"role": "tool", "tool_call_id": "call_1", "content": "96 m"}
    ask, history = requests.question(asked(HIGH, tool, {"role": "user", "content": "Why?"}), None)
    assert (ask.text, [turn.content for turn in history]) == ("Why?", ["How high is it?"])


def test_parameters_say_how_it_is_written_and_null_says_nothing() -> None:
    request = asked(HIGH, temperature=0, top_p=None, max_tokens=7, max_completion_tokens=5)
    assert request.generation == {"temperature": 0, "max_tokens": 5}


def test_a_limit_of_nothing_is_a_limit() -> None:
    """It is refused further on, and not taken for none."""
    assert asked(HIGH, max_completion_tokens=0, max_tokens=7).generation == {"max_tokens": 0}


def test_harmless_parameters_are_accepted() -> None:
    given = {"n": 1, "user": "u", "logit_bias": {}, "response_format": {"type": "text"}}
    assert asked(HIGH, tools=[], stop=["x"], **given).generation == {}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"response_format": {"type": "json_object"}}, "response_format.type"),
        ({"modalities": ["audio"]}, "modalities.0"),
        ({"temperature": "hot"}, "temperature"),
        ({"model": 3}, "model"),
    ],
)
def test_what_cannot_be_had_is_refused_with_its_field(fields: dict[str, Any], param: str) -> None:
    assert refused(HIGH, **fields).param == param


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"role": "parrot", "content": "x"}, "messages.0.role"),
        ({"role": "tool", "content": "x"}, "messages"),
        ({"role": "user", "content": 3}, "messages.0.content"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
            "messages.0.content",
        ),
        ({"role": "user", "content": ["x"]}, "messages.0.content"),
        ({"role": "user", "content": [{"type": ["text"], "text": "x"}]}, "messages.0.content"),
        ({"role": "user", "content": " "}, "messages.0.content"),
        ({"role": "user", "content": "x" * (QUESTION_MAX_CHARS + 1)}, "messages.0.content"),
        ({"role": "assistant", "content": "x"}, "messages"),
        ({"role": "system", "content": "x"}, "messages"),
    ],
)
def test_a_message_that_is_no_question_is_refused_with_its_place(
    message: dict[str, Any], param: str
) -> None:
    assert refused(message).param == param


def test_no_message_is_refused() -> None:
    assert refused().param == "messages"


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ApiError) as caught:
        requests.parse(b"{")
    assert caught.value.code == "invalid_json"
