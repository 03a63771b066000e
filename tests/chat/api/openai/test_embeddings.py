from __future__ import annotations

import openai
import pytest

from chat import pace
from retrieval import backends
from tests.chat.api.conftest import Live
from tests.fakes import HashEmbedder

TEXTS = ["The tower of Lund", "Ein Turm – 塔"]


def vectors(*texts: str) -> list[list[float]]:
    embedder = backends.embedder()
    assert isinstance(embedder, HashEmbedder)
    return [embedder.embed(text).tolist() for text in texts]


def test_embeddings_are_the_embedders_own_in_the_order_of_the_texts(sdk: openai.OpenAI) -> None:
    answer = sdk.embeddings.create(model="hash", input=TEXTS)
    assert [each.embedding for each in answer.data] == vectors(*TEXTS)
    assert [each.index for each in answer.data] == [0, 1]
    assert answer.usage.prompt_tokens == 8


def test_numbers_are_the_same_as_base64(sdk: openai.OpenAI) -> None:
    answer = sdk.embeddings.create(
        model="hash", input=TEXTS[0], encoding_format="float", dimensions=256
    )
    assert [each.embedding for each in answer.data] == vectors(TEXTS[0])


async def test_the_asynchronous_sdk_gets_the_same(live: Live) -> None:
    address = f"{live.base_url}/openai/v1"
    async with openai.AsyncOpenAI(base_url=address, api_key=live.token) as sdk:
        answer = await sdk.embeddings.create(
            model="hash", input=TEXTS, extra_body={"input_type": "query"}
        )
    assert [each.embedding for each in answer.data] == vectors(*TEXTS)


@pytest.mark.parametrize(
    ("texts", "fields", "param"),
    [
        ("", {}, "input.0"),
        ([], {}, "input"),
        (["x", " "], {}, "input.1"),
        ([1, 2], {}, "input.0"),
        ("word " * 513, {}, "input.0"),
        ("x", {"dimensions": 12}, "dimensions"),
        ("x", {"encoding_format": "hex"}, "encoding_format"),
    ],
)
def test_what_cannot_be_embedded_is_refused_with_its_field(
    sdk: openai.OpenAI, texts: object, fields: dict[str, object], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        sdk.embeddings.create(model="hash", input=texts, extra_body=fields)  # type: ignore[arg-type]
    assert caught.value.param == param


def test_another_model_is_none_of_ours(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        sdk.embeddings.create(model="text-embedding-3-small", input="x")
    assert caught.value.code == "model_not_found"


def test_a_model_is_asked_no_more_often_than_searches_are(
    sdk: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "may_look", lambda *_: False)
    with pytest.raises(openai.RateLimitError) as caught:
        sdk.with_options(max_retries=0).embeddings.create(model="hash", input="x")
    assert caught.value.response.headers["Retry-After"]


def test_it_needs_the_scope_of_searching(sdk: openai.OpenAI, live: Live) -> None:
    asker = live.make_token(None, "ask")
    with pytest.raises(openai.PermissionDeniedError):
        sdk.with_options(api_key=asker).embeddings.create(model="hash", input="x")
