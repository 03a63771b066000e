"""The SDK that people have, against the site."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from chat.models import Conversation, Run, RunState
from retrieval.backends.base import BackendError
from tests.chat.api.conftest import ANSWER, WAIT_SECONDS, Live
from tests.servers import wait_until

TEXT = "".join(ANSWER)
HIGH: list[ChatCompletionMessageParam] = [{"role": "user", "content": "How high is the tower?"}]
AWAY = BackendError("The model is away.", True, code="unreachable")


def test_a_whole_answer_has_its_citations_in_the_text_and_beside_it(
    sdk: openai.OpenAI, guide: str, live: Live
) -> None:
    completion = sdk.chat.completions.create(model=guide, messages=HIGH)
    (choice,) = completion.choices
    assert (choice.message.content, choice.finish_reason) == (TEXT, "stop")
    assert choice.message.annotations
    cited = choice.message.annotations[0].url_citation
    assert TEXT[cited.start_index : cited.end_index] == "[1]"
    assert "tower" in cited.title
    assert cited.url.startswith(f"{live.base_url}/c/")
    assert completion.usage
    assert completion.usage.total_tokens == 12
    assert completion.model == guide


def test_an_answer_is_streamed_as_it_is_written(sdk: openai.OpenAI, guide: str, live: Live) -> None:
    gate = live.gate()
    live.say(ANSWER[0], gate, ANSWER[1])
    text = ""
    with sdk.chat.completions.create(model=guide, messages=HIGH, stream=True) as stream:
        for chunk in stream:
            (choice,) = chunk.choices
            text += choice.delta.content or ""
            if text == ANSWER[0].rstrip():
                gate.open()
    assert text == TEXT
    assert choice.finish_reason == "stop"


def test_the_helper_that_puts_a_stream_together_has_it_all(sdk: openai.OpenAI, guide: str) -> None:
    options: dict[str, Any] = {"stream_options": {"include_usage": True}}
    with sdk.chat.completions.stream(model=guide, messages=HIGH, **options) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert "".join(deltas) == final.choices[0].message.content == TEXT
    assert final.choices[0].message.annotations
    assert final.usage
    assert final.usage.completion_tokens == 2


async def test_the_asynchronous_sdk_gets_the_same(guide: str, live: Live) -> None:
    address = f"{live.base_url}/openai/v1"
    async with openai.AsyncOpenAI(base_url=address, api_key=live.token) as sdk:
        whole = await sdk.chat.completions.create(model=guide, messages=HIGH)
        stream = await sdk.chat.completions.create(model=guide, messages=HIGH, stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert whole.choices[0].message.content == text == TEXT


def test_the_wire_is_lines_of_data_and_nothing_else(guide: str, live: Live) -> None:
    body = {"model": guide, "messages": HIGH, "stream": True}
    with (
        live.client() as client,
        client.stream("POST", "/openai/v1/chat/completions", json=body) as answer,
    ):
        lines = list(answer.iter_lines())
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert lines[1::2] == [""] * (len(lines) // 2)
    assert all(line.startswith("data: {") and line.isascii() for line in lines[:-2:2])
    assert lines[-2] == "data: [DONE]"


def test_leaving_ends_the_stream_of_the_provider_at_once(
    sdk: openai.OpenAI, guide: str, live: Live
) -> None:
    live.generator.closed.clear()
    live.say(ANSWER[0], live.gate())
    with sdk.chat.completions.create(model=guide, messages=HIGH, stream=True) as stream:
        for chunk in stream:
            if chunk.choices[0].delta.content:
                break
    live.site.run(asyncio.wait_for(live.generator.closed.wait(), WAIT_SECONDS))


async def test_giving_up_on_a_whole_answer_ends_the_stream_of_the_provider(
    guide: str, live: Live
) -> None:
    live.generator.closed.clear()
    asked = len(live.generator.requests)
    live.say(ANSWER[0], live.gate())
    address = f"{live.base_url}/openai/v1"
    async with openai.AsyncOpenAI(base_url=address, api_key=live.token) as sdk:
        work = asyncio.create_task(sdk.chat.completions.create(model=guide, messages=HIGH))
        started = partial(wait_until, lambda: len(live.generator.requests) > asked, "it is asked")
        await asyncio.to_thread(started)
        work.cancel()
        await asyncio.wait([work])
    closed = partial(asyncio.wait_for, live.generator.closed.wait(), WAIT_SECONDS)
    await asyncio.to_thread(lambda: live.site.run(closed()))


def test_earlier_turns_are_what_a_question_goes_on_with(
    sdk: openai.OpenAI, guide: str, live: Live
) -> None:
    turns: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "You are a pirate."},
        *HIGH,
        {"role": "assistant", "content": TEXT},
        {"role": "user", "content": "Who built it?"},
    ]
    sdk.chat.completions.create(model=guide, messages=turns)
    prompt = live.generator.requests[-1].messages
    said = [(turn.role, turn.content) for turn in prompt[1:-1]]
    assert said == [("user", HIGH[0]["content"]), ("assistant", TEXT.replace("[1]", ""))]
    assert "pirate" not in prompt[0].content
    assert prompt[-1].content.endswith("Question: Who built it?")


def test_nothing_of_it_is_listed_among_the_conversations(
    sdk: openai.OpenAI, guide: str, live: Live
) -> None:
    completion = sdk.chat.completions.create(model=guide, messages=HIGH)
    run = Run.objects.get(pk=completion.id.removeprefix("chatcmpl-"))
    assert run.state == RunState.COMPLETED
    assert not Conversation.objects.filter(user=live.user, listed=True).exists()


def test_parameters_reach_the_model(sdk: openai.OpenAI, guide: str, live: Live) -> None:
    sdk.chat.completions.create(model=guide, messages=HIGH, temperature=0.5, max_tokens=7, user="u")
    assert live.generator.requests[-1].settings.given() == {"temperature": 0.5, "max_tokens": 7}


def test_collections_can_be_chosen_by_name_or_id(
    sdk: openai.OpenAI, guide: str, live: Live
) -> None:
    for chosen in (live.collection.name, str(live.collection.pk)):
        extra = {"collections": [chosen], "search_settings": {"limit": 1}}
        sdk.chat.completions.create(model=guide, messages=HIGH, extra_body=extra)
        assert len(live.generator.requests[-1].passages) == 1
    with pytest.raises(openai.BadRequestError) as caught:
        sdk.chat.completions.create(
            model=guide, messages=HIGH, extra_body={"collections": ["Nothing"]}
        )
    assert caught.value.param == "collections"


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_refused_is_an_exception_of_the_sdk(
    sdk: openai.OpenAI, guide: str, live: Live, stream: bool
) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        sdk.chat.completions.create(model="gpt-4", messages=HIGH, stream=stream)
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError) as two:
        sdk.chat.completions.create(model=guide, messages=HIGH, stream=stream, n=2)
    assert (two.value.type, two.value.param) == ("invalid_request_error", "n")
    with pytest.raises(openai.BadRequestError) as hot:
        sdk.chat.completions.create(model=guide, messages=HIGH, stream=stream, temperature=9)
    assert hot.value.param == "temperature"
    with pytest.raises(openai.AuthenticationError) as nobody:
        sdk.with_options(api_key="rs_wrong").models.list()
    assert (nobody.value.code, bool(nobody.value.request_id)) == ("invalid_api_key", True)
    with pytest.raises(openai.PermissionDeniedError):
        sdk.with_options(api_key=live.make_token(None, "search")).models.list()


def test_a_failing_answer_is_not_asked_for_again_by_the_sdk(
    sdk: openai.OpenAI, guide: str, live: Live
) -> None:
    live.say(AWAY)
    with pytest.raises(openai.InternalServerError) as caught:
        sdk.chat.completions.create(model=guide, messages=HIGH)
    assert (caught.value.status_code, caught.value.code) == (502, "unreachable")
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert caught.value.response.request.headers["x-stainless-retry-count"] == "0"


def test_a_key_that_the_provider_refuses_is_no_fault_of_ours(
    sdk: openai.OpenAI, guide: str, live: Live
) -> None:
    live.say(BackendError("The provider refused the key.", False, code="unauthorized"))
    with pytest.raises(openai.InternalServerError) as caught:
        sdk.chat.completions.create(model=guide, messages=HIGH)
    assert (caught.value.status_code, caught.value.code) == (502, "unauthorized")


def test_a_failure_in_mid_stream_is_an_exception_after_what_was_said(
    sdk: openai.OpenAI, guide: str, live: Live
) -> None:
    live.say(ANSWER[0], BackendError("The model is away.", False, code="dropped"))
    text = ""
    with (
        pytest.raises(openai.APIError, match=r"The model is away\."),
        sdk.chat.completions.create(model=guide, messages=HIGH, stream=True) as stream,
    ):
        for chunk in stream:
            text += chunk.choices[0].delta.content or ""
    assert text == ANSWER[0].rstrip()


def test_every_other_address_answers_in_the_same_shape(live: Live) -> None:
    with live.client() as client:
        answers: list[httpx.Response] = [
            client.get("/openai/v1/nothing"),
            client.get("/openai/v1/chat/completions"),
            client.post("/openai/v1/chat/completions", content=b"{"),
            client.post("/openai/v1/chat/completions", content=b"x" * 3_000_000),
        ]
    assert [answer.status_code for answer in answers] == [404, 405, 400, 413]
    for answer in answers:
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
        assert answer.headers["x-request-id"]
