"""OpenAI's SDK against a real server: what is sent and understood, what every fault becomes."""

import asyncio
import itertools
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest
import stamina
from django.test import override_settings

from retrieval.backends.base import BackendError, ChatMessage, Delta, GenerationRequest, Query
from retrieval.backends.generation import GenerationSettings
from retrieval.backends.openai import OpenAIEmbedder, OpenAIGenerator
from tests.provider import Answer, Provider

SETTINGS = {
    "temperature": 0.0,
    "top_p": 0.9,
    "max_tokens": 9,
    "frequency_penalty": 0.5,
    "presence_penalty": 0.25,
    "seed": 7,
}
REQUEST = GenerationRequest([ChatMessage("user", "How many?")], Query("How many?", ("many",)), ())


@pytest.fixture
def generator(provider: Provider) -> OpenAIGenerator:
    return OpenAIGenerator("some-model", "a key", provider.url)


async def collect(generator: OpenAIGenerator, request: GenerationRequest = REQUEST) -> list[Delta]:
    return [delta async for delta in generator.stream(request)]


async def failure(generator: OpenAIGenerator) -> BackendError:
    with pytest.raises(BackendError) as caught:
        await collect(generator)
    assert "secret" not in caught.value.message
    return caught.value


async def test_streams_text_then_the_reason_and_the_tokens(generator, provider):
    deltas = await collect(generator)
    assert [delta.text for delta in deltas[:-1]] == ["The", " answer", " is", " 42", " [1]."]
    assert deltas[-1] == Delta(finish_reason="stop", prompt_tokens=7, completion_tokens=5)
    sent = provider.requests[0]
    assert sent.headers["Authorization"] == "Bearer a key"
    assert sent.body["messages"] == [{"role": "user", "content": "How many?"}]
    assert sent.body["model"] == "some-model"
    assert "temperature" not in sent.body


async def test_sends_the_options_that_were_set(generator, provider):
    await collect(
        generator,
        replace(REQUEST, model="other", settings=GenerationSettings.parse(SETTINGS)),
    )
    body = provider.requests[0].body
    assert body["model"] == "other"
    assert {name: body[name] for name in SETTINGS} == SETTINGS


def test_openai_s_own_limit_of_tokens_has_another_name():
    request = replace(REQUEST, settings=GenerationSettings(max_tokens=9))
    own, like_it = OpenAIGenerator("a"), OpenAIGenerator("a", base_url="http://localhost/v1")
    assert {"max_tokens", "max_completion_tokens"} & own._body(request).keys() == {
        "max_completion_tokens"
    }
    assert {"max_tokens", "max_completion_tokens"} & like_it._body(request).keys() == {"max_tokens"}


async def test_reasoning_is_thinking_not_text(generator, provider):
    provider.script(Answer(thinking=["Hm", "m"]))
    deltas = await collect(generator)
    assert "".join(delta.thinking for delta in deltas) == "Hmm"
    assert "Hm" not in "".join(delta.text for delta in deltas)


async def test_length_is_a_reason(generator, provider):
    provider.script(Answer(finish_reason="length"))
    assert (await collect(generator))[-1].finish_reason == "length"


async def test_a_server_without_stream_options_is_asked_again_without_them(generator, provider):
    provider.script(Answer(status=400, error="Unknown field stream_options"))
    assert (await collect(generator))[-1].finish_reason == "stop"
    assert (await collect(generator))[-1].completion_tokens == 0
    assert [("stream_options" in request.body) for request in provider.requests] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("answer", "code", "retryable"),
    [
        (Answer(status=401), "unauthorized", False),
        (Answer(status=404), "bad_request", False),
        (Answer(status=429), "rate_limited", True),
        (Answer(status=429, error="insufficient_quota"), "rate_limited", False),
        (Answer(status=500), "provider_error", True),
        (Answer(status=503), "provider_error", True),
        (Answer(status=400, error="maximum context length is 8192"), "context_too_long", False),
        (Answer(drop_after=2), "dropped", True),
        (Answer(finish_reason=None), "dropped", True),
        (Answer(malformed_after=2), "malformed", True),
        (Answer(fail_after=2), "provider_error", True),
        (Answer(tokens=()), "empty", True),
        (Answer(finish_reason="content_filter"), "content_filter", False),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, str) else None,
)
async def test_every_fault_has_its_code(generator, provider, answer, code, retryable):
    provider.script(answer)
    error = await failure(generator)
    assert (error.code, error.retryable) == (code, retryable)


async def test_what_came_before_a_fault_was_yielded(generator, provider):
    provider.script(Answer(drop_after=2))
    texts = []
    with pytest.raises(BackendError):
        async for delta in generator.stream(REQUEST):
            texts += [delta.text]
    assert texts == ["The", " answer"]


async def test_retry_after_is_passed_on_and_nothing_tried_again(generator, provider):
    provider.script(Answer(status=429, headers={"Retry-After": "7"}))
    assert (await failure(generator)).retry_after == 7
    assert len(provider.requests) == 1


async def test_a_server_that_is_not_there_is_unreachable():
    generator = OpenAIGenerator("some-model", "", "http://127.0.0.1:9/v1")
    assert (await failure(generator)).code == "unreachable"


@override_settings(PROVIDER_TOKEN_TIMEOUT=0.05)
async def test_silence_between_tokens_is_a_timeout(generator, provider):
    provider.script(Answer(stall_after=2))
    assert (await failure(generator)).code == "timeout"
    await provider.requests[0].wait_closed()


@override_settings(PROVIDER_CONNECT_TIMEOUT=0.05, PROVIDER_FIRST_TOKEN_TIMEOUT=0.05)
async def test_silence_before_the_first_token_is_a_timeout(generator, provider):
    provider.hold()
    assert (await failure(generator)).code == "timeout"


async def test_closing_the_iterator_closes_the_connection(generator, provider):
    provider.hold()
    provider.script(Answer(tokens=itertools.repeat("word ")))
    provider.release(3)
    async with aclosing(generator.stream(REQUEST)) as deltas:
        for _ in range(3):
            await anext(deltas)
    request = provider.requests[0]
    await request.wait_closed()
    assert request.disconnected
    assert request.tokens == 3


async def test_cancelling_the_reader_closes_the_connection(generator, provider):
    provider.hold()
    reader = asyncio.create_task(collect(generator))
    request = await provider.request()
    reader.cancel()
    await request.wait_closed()
    assert request.disconnected
    assert request.tokens == 0
    with pytest.raises(asyncio.CancelledError):
        await reader


async def test_embeds_in_batches(provider):
    embedder = OpenAIEmbedder("some-embedder", "", provider.url)
    texts = [f"text number {number}" for number in range(300)]
    vectors = await embedder.embed_passages(texts)
    assert vectors.shape == (300, 64)
    assert embedder.dimensions == 64
    assert [len(request.body["input"]) for request in provider.requests] == [256, 44]
    alone = await embedder.embed_query("text number 7")
    assert np.argmax(vectors @ alone) == 7


async def test_prefixes_and_dimensions_of_known_models(provider):
    await OpenAIEmbedder("nomic-embed-text:v1.5", "", provider.url, dimensions=64).embed_query("a")
    assert provider.requests[0].body["input"] == ["search_query: a"]
    assert provider.requests[0].body["dimensions"] == 64


async def test_another_number_of_dimensions_names_the_setting(provider):
    with pytest.raises(BackendError, match="EMBEDDING_DIMENSIONS=64"):
        await OpenAIEmbedder("unknown", "", provider.url, dimensions=32).embed_query("a")


async def test_embedding_is_tried_again_when_that_may_help(provider):
    provider.script(Answer(status=503), Answer(status=401))
    embedder = OpenAIEmbedder("unknown", "", provider.url)
    with stamina.set_testing(True, attempts=3), pytest.raises(BackendError) as caught:
        await embedder.embed_passages(["a"])
    assert caught.value.code == "unauthorized"
    assert len(provider.requests) == 2


def test_unknown_dimensions_are_learnt_by_prepare(provider):
    embedder = OpenAIEmbedder("unknown", "", provider.url)
    embedder.prepare()
    assert embedder.dimensions == 64
