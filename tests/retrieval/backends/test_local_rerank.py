"""Reranking without a model: careful with the order, honest about whether there is an answer."""

from functools import partial

import pytest
from django.test import override_settings

from retrieval.backends.base import Passage
from retrieval.backends.local_rerank import THRESHOLD, LocalReranker
from retrieval.search.query import analyse
from retrieval.text import sentences

QUESTION = analyse("When was the lighthouse built?")


def passage(text: str, *, fused: float, vector: float, language: str = "en") -> Passage:
    return Passage(
        1,
        text,
        "",
        language=language,
        scores={"fused": fused, "vector": vector},
        analyse=partial(sentences.split, language=language),
    )


CLEAR = passage("The lighthouse was built in 1871.", fused=2.5, vector=0.9)
WEAK = [passage(f"Sheep number {n} eats grass.", fused=-n / 10, vector=0.78) for n in range(8)]


async def test_a_clear_hit_stays_above_words_without_meaning():
    stuffed = passage("Lighthouse built lighthouse built.", fused=0.0, vector=0.8)
    ranked = await LocalReranker(reorder=True).rerank(QUESTION, [CLEAR, stuffed, *WEAK], 3)
    assert ranked[0].position == 0


async def test_of_two_that_are_close_the_one_that_covers_the_question_comes_first():
    vague = passage("It stands on a cliff.", fused=2.5, vector=0.86)
    better = passage("The lighthouse was built in 1871.", fused=2.45, vector=0.86)
    ranked = await LocalReranker(reorder=True).rerank(QUESTION, [vague, better, *WEAK], 2)
    assert [each.position for each in ranked] == [1, 0]


async def test_the_order_stays_unless_reordering_is_asked_for():
    vague = passage("It stands on a cliff.", fused=2.5, vector=0.86)
    better = passage("The lighthouse was built in 1871.", fused=2.45, vector=0.86)
    ranked = await LocalReranker().rerank(QUESTION, [vague, better, *WEAK], 2)
    assert [each.position for each in ranked] == [0, 1]
    assert ranked[1].relevance_score > ranked[0].relevance_score


async def test_without_any_signal_the_order_stays():
    same = [passage("Nothing here.", fused=0.0, vector=0.8) for _ in range(4)]
    ranked = await LocalReranker(reorder=True).rerank(QUESTION, same, 4)
    assert [each.position for each in ranked] == [0, 1, 2, 3]


async def test_relevance_parts_an_answer_from_what_is_beside_the_point():
    answered = await LocalReranker().rerank(QUESTION, [CLEAR, *WEAK], 5)
    unanswered = await LocalReranker().rerank(QUESTION, WEAK, 5)
    assert max(each.relevance_score for each in answered) > 0.9
    assert max(each.relevance_score for each in unanswered) < THRESHOLD


async def test_passages_in_another_language_are_never_ruled_out():
    german = passage("Der Turm steht seit 1871.", fused=1.0, vector=0.8, language="de")
    ranked = await LocalReranker().rerank(QUESTION, [german], 1)
    assert ranked[0].relevance_score >= THRESHOLD


async def test_nothing_to_rank():
    assert await LocalReranker().rerank(QUESTION, [], 5) == []


@pytest.mark.parametrize(("path", "known"), [("onnx.OnnxEmbedder", True), ("", False)])
def test_the_threshold_holds_for_the_bundled_embedding_model_only(path, known):
    backend = f"retrieval.backends.{path}" if path else "tests.fakes.HashEmbedder"
    with override_settings(RAG_BACKENDS={"embedder": {"BACKEND": backend}}):
        assert (LocalReranker().answer_threshold > 0) is known
