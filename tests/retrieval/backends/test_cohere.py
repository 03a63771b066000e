"""Cohere's SDK against a real server: what is sent and understood, what every fault becomes."""

import asyncio
import itertools
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest
from django.test import override_settings

from retrieval.backends.base import (
    BackendError,
    ChatMessage,
    Delta,
    GenerationRequest,
    Passage,
    Query,
)
from retrieval.backends.cohere import CohereEmbedder, CohereGenerator, CohereReranker
from retrieval.backends.generation import GenerationSettings
from retrieval.backends.rerank_server import ServerReranker
from tests.provider import Answer, Provider

REQUEST = GenerationRequest([ChatMessage("user", "How many?")], Query("How many?", ("many",)), ())
QUERY = Query("green cats", ("green", "cats"))
PASSAGES = [Passage(1, "red dogs", ""), Passage(2, "cats are green", ""), Passage(3, "green", "")]


@pytest.fixture
def generator(provider: Provider) -> CohereGenerator:
    return CohereGenerator("some-model", "a key", provider.root)


async def collect(generator: CohereGenerator, request: GenerationRequest = REQUEST) -> list[Delta]:
    return [delta async for delta in generator.stream(request)]


async def failure(generator: CohereGenerator) -> BackendError:
    with pytest.raises(BackendError) as caught:
        await collect(generator)
    assert "secret" not in caught.value.message
    return caught.value


async def test_streams_text_then_the_reason_and_the_tokens(generator, provider):
    deltas = await collect(generator)
    assert "".join(delta.text for delta in deltas) == "The answer is 42 [1]."
    assert deltas[-1] == Delta(finish_reason="stop", prompt_tokens=7, completion_tokens=5)
    sent = provider.requests[0]
    assert sent.headers["Authorization"] == "Bearer a key"
    assert sent.body["messages"] == [{"role": "user", "content": "How many?"}]
    assert "temperature" not in sent.body


async def test_sends_the_options_that_were_set(generator, provider):
    settings = {
        "temperature": 0.0,
        "top_p": 0.9,
        "max_tokens": 9,
        "frequency_penalty": 0.5,
        "presence_penalty": 0.25,
        "seed": 7,
    }
    chosen = GenerationSettings.parse(settings)
    await collect(generator, replace(REQUEST, model="other", settings=chosen))
    body = provider.requests[0].body
    settings["p"] = settings.pop("top_p")
    assert body["model"] == "other"
    assert {name: body[name] for name in settings} == settings
    assert "top_p" not in body


async def test_thinking_is_no_text(generator, provider):
    provider.script(Answer(thinking=["Hm"]))
    deltas = await collect(generator)
    assert "".join(delta.thinking for delta in deltas) == "Hm"
    assert "".join(delta.text for delta in deltas) == "The answer is 42 [1]."


async def test_length_is_a_reason(generator, provider):
    provider.script(Answer(finish_reason="length"))
    assert (await collect(generator))[-1].finish_reason == "length"


@pytest.mark.parametrize(
    ("answer", "code", "retryable"),
    [
        (Answer(status=401), "unauthorized", False),
        (Answer(status=404), "bad_request", False),
        (Answer(status=429), "rate_limited", True),
        (Answer(status=500), "provider_error", True),
        (Answer(status=503), "provider_error", True),
        (Answer(status=400, error="too many tokens: 9000"), "context_too_long", False),
        (Answer(drop_after=2), "dropped", True),
        (Answer(finish_reason=None), "dropped", True),
        (Answer(fail_after=2, finish_reason="ERROR"), "provider_error", True),
        (Answer(tokens=()), "empty", True),
        (Answer(finish_reason="content_filter"), "content_filter", False),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_every_fault_has_its_code(generator, provider, answer, code, retryable):
    provider.script(answer)
    error = await failure(generator)
    assert (error.code, error.retryable) == (code, retryable)


async def test_retry_after_is_passed_on_and_nothing_tried_again(generator, provider):
    provider.script(Answer(status=429, headers={"Retry-After": "7"}))
    assert (await failure(generator)).retry_after == 7
    assert len(provider.requests) == 1


async def test_a_server_that_is_not_there_is_unreachable():
    assert (await failure(CohereGenerator("m", "", "http://127.0.0.1:9"))).code == "unreachable"


@override_settings(PROVIDER_TOKEN_TIMEOUT=0.05)
async def test_silence_between_tokens_is_a_timeout(generator, provider):
    provider.script(Answer(stall_after=2))
    assert (await failure(generator)).code == "timeout"
    await provider.requests[0].wait_closed()


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
    with pytest.raises(asyncio.CancelledError):
        await reader


async def test_embeds_questions_and_passages_apart(provider):
    embedder = CohereEmbedder("embed-english-light-v3.0", "", provider.root, dimensions=64)
    vectors = await embedder.embed_passages([f"text {number}" for number in range(100)])
    assert np.argmax(vectors @ await embedder.embed_query("text 7")) == 7
    sent = [
        (request.body["input_type"], len(request.body["texts"])) for request in provider.requests
    ]
    assert sent == [("search_document", 96), ("search_document", 4), ("search_query", 1)]


@pytest.mark.parametrize("kind", ["cohere", "server"])
async def test_reranks(provider, kind):
    reranker = (
        CohereReranker("rerank", "", provider.root)
        if kind == "cohere"
        else ServerReranker("rerank", provider.root)
    )
    ranked = await reranker.rerank(QUERY, PASSAGES, 2)
    assert [each.position for each in ranked] == [1, 2]
    assert ranked[0].relevance_score == 1.0
    assert await reranker.rerank(QUERY, [], 2) == []


@pytest.mark.parametrize("kind", [CohereReranker, ServerReranker])
async def test_a_wrong_key_ends_reranking_at_once(provider, kind):
    provider.default = Answer(status=401)
    with pytest.raises(BackendError) as caught:
        await kind(model="rerank", base_url=provider.root).rerank(QUERY, PASSAGES, 2)
    assert caught.value.code == "unauthorized"
    assert len(provider.requests) == 1
