"""What a generator writes is searched for beside the question, and never in the way of it."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from pytest_django import Settings

from retrieval import backends
from retrieval.backends.base import BackendError, Vectors
from retrieval.database import in_thread
from retrieval.search import Hit, Scope, SearchSettings, analyse, strategies
from tests.fakes import FailingEmbedder, ScriptedGenerator
from tests.retrieval.search.conftest import AddDocument, make_hit

HYDE = SearchSettings.parse({"search_strategy": "hyde", "search_mode": "basic"})
FUSION = SearchSettings.parse({"search_strategy": "rag_fusion", "num_sub_queries": 2})
QUESTION = analyse("how tall is it")


@pytest.fixture
def generator(settings: Settings) -> ScriptedGenerator:
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {"BACKEND": "tests.fakes.ScriptedGenerator"},
    }
    configured = backends.generator()
    assert isinstance(configured, ScriptedGenerator)
    return configured


async def test_lines_lose_their_numbers_bullets_and_quotes(generator: ScriptedGenerator) -> None:
    generator.script = ['Here are two:\n1. "tower height"\n\n- Lund ', "metres"]
    assert (await strategies.write(QUESTION, FUSION)).texts == ("tower height", "Lund metres")


async def test_no_more_is_used_than_was_asked_for(generator: ScriptedGenerator) -> None:
    generator.script = ["one\ntwo\nthree"]
    written = await strategies.write(QUESTION, FUSION)
    assert written.texts == ("one", "two")
    assert (written.prompt_tokens, written.completion_tokens) == (10, 2)


async def test_reasoning_is_left_out(generator: ScriptedGenerator) -> None:
    generator.script = ["<think>\nHm, a tower.\n</think>\ntower height"]
    assert (await strategies.write(QUESTION, FUSION)).texts == ("tower height",)


@pytest.mark.parametrize(
    "said", ["???\n---", "How tall is it?", "word " * 100, "<think>It never ends", "x" * 20_000]
)
async def test_rubbish_is_an_error(generator: ScriptedGenerator, said: str) -> None:
    generator.script = [said]
    with pytest.raises(BackendError) as raised:
        await strategies.write(QUESTION, FUSION)
    assert raised.value.code == "malformed"
    assert generator.closed.is_set()


async def test_a_slow_generator_is_not_waited_for(
    generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.REWRITE_TIMEOUT = 0.01
    generator.script = [asyncio.Event()]
    with pytest.raises(BackendError) as raised:
        await strategies.write(QUESTION, FUSION)
    assert raised.value.code == "timeout"
    assert generator.closed.is_set()


async def test_a_generator_that_quotes_writes_nothing() -> None:
    with pytest.raises(BackendError):
        await strategies.write(QUESTION, FUSION)


async def test_the_model_is_the_one_for_rewriting(
    generator: ScriptedGenerator, settings: Settings
) -> None:
    generator.script = ["tower height"]
    await strategies.write(QUESTION, FUSION, "large")
    settings.REWRITE_MODEL = "small"
    await strategies.write(QUESTION, FUSION, "large")
    assert [request.model for request in generator.requests] == ["large", "small"]


@pytest.mark.django_db(transaction=True)
async def test_hypothetical_passages_lead_the_vector_to_passages_like_them(
    add_document: AddDocument, scope: Scope
) -> None:
    await in_thread(add_document, "how do it tall", "Lund: 96 metres above the square.")

    async def first(*written: str) -> str:
        return (await strategies.retrieve_with(QUESTION, written, scope, HYDE)).hits[0].text

    assert await first() == "how do it tall"
    assert await first("96 metres above the square", "Lund: 96 metres") == (
        "Lund: 96 metres above the square."
    )


class FailingPassages(FailingEmbedder):
    """An embedder that goes away once the question is embedded."""

    async def embed_query(self, text: str) -> Vectors:
        return self.embed(text)

    async def embed_passages(self, texts: object) -> Vectors:
        raise BackendError("away", True, code="unreachable")


@pytest.mark.django_db(transaction=True)
async def test_the_question_is_searched_for_where_passages_cannot_be_embedded(
    add_document: AddDocument, scope: Scope, settings: Settings
) -> None:
    await in_thread(add_document, "how tall is it")
    path = f"{__name__}.FailingPassages"
    settings.RAG_BACKENDS = {**settings.RAG_BACKENDS, "embedder": {"BACKEND": path}}
    found = await strategies.retrieve_with(QUESTION, ["96 metres"], scope, HYDE)
    assert [hit.text for hit in found.hits] == ["how tall is it"]


@pytest.mark.django_db(transaction=True)
async def test_each_wording_finds_what_it_says(add_document: AddDocument, scope: Scope) -> None:
    await in_thread(add_document, "Valves are made of brass.", "Taps leak.", "Faucets drip.")
    words = SearchSettings.parse({"search_strategy": "rag_fusion", "use_semantic_search": False})
    question = analyse("valves")
    found = await strategies.retrieve_with(question, ["taps", "faucets"], scope, words)
    assert [hit.text for hit in found.hits] == [
        "Valves are made of brass.", "Taps leak.", "Faucets drip.",
    ]  # fmt: skip


@pytest.mark.django_db(transaction=True)
async def test_a_search_goes_on_when_the_generator_fails(
    add_document: AddDocument, scope: Scope, generator: ScriptedGenerator
) -> None:
    await in_thread(add_document, "it is tall")
    generator.script = [BackendError("made up", True)]
    found = await strategies.search(QUESTION, scope, FUSION)
    assert [hit.text for hit in found.hits] == ["it is tall"]


def test_what_several_rankings_hold_comes_first_with_its_own_scores() -> None:
    first, both, last = (make_hit(text, vector=0.5) for text in ("a", "b", "c"))
    again = Hit(**{**vars(both), "scores": {"vector": 0.9}})
    fused = strategies.fuse([[first, both], [again, last]], k=10)
    assert [hit.text for hit in fused] == ["b", "a", "c"]
    assert fused[0].scores == {"vector": 0.5, "fused": 1 / 12 + 1 / 11}


def test_of_equals_the_first_rankings_comes_first() -> None:
    hits = [make_hit(str(uuid4())) for _ in range(4)]
    assert strategies.fuse([[hits[0]], [hits[1]], [hits[2]], [hits[3]]], k=10)[0].id == hits[0].id
