"""What goes into the prompt, and whether there is an answer."""

from __future__ import annotations

from uuid import uuid4

import pytest
from pytest_django import Settings

from retrieval.search import Hit, answerable, build_context, diversify, holds_answer, passages
from retrieval.search.context import same, words_of
from tests.retrieval.search.conftest import make_chunk, make_hit


class CautiousReranker:
    answer_threshold = 0.4


def hit(text: str, title: str = "", **scores: float) -> Hit:
    return make_hit(text, title, ("Oil", "Kinds"), **scores)


def count_words(text: str) -> int:
    return len(text.split())


def context(*texts: str, budget: int = 1000) -> list[str]:
    chosen = build_context([hit(text) for text in texts], budget, count_words)
    return [each.text for each in chosen]


def use_reranker(settings: Settings, path: str | None) -> None:
    settings.RAG_BACKENDS = {**settings.RAG_BACKENDS, "reranker": {"BACKEND": path}}


def test_order_is_kept_and_passages_are_numbered_from_1() -> None:
    """Passage n is the n-th hit of the context, with its title and headings."""
    chosen = build_context([hit("b", title="B"), hit("a", title="A")], 100, count_words)
    assert [(p.index, p.text, p.title, p.heading) for p in passages(chosen)] == [
        (1, "b", "B", "Oil › Kinds"),
        (2, "a", "A", "Oil › Kinds"),
    ]


def test_same_text_is_dropped() -> None:
    """The better hit stays, whatever the case, accents, signs and spaces of the other."""
    assert context("Zürich is old, indeed.", "zurich  is old - INDEED", "Bern") == [
        "Zürich is old, indeed.",
        "Bern",
    ]


def test_same_text_in_two_documents_is_one_passage_of_both() -> None:
    first, second = hit("Zürich is old.", title="A"), hit("Zurich is old", title="B")
    (passage,) = build_context([first, second], 100, count_words)
    assert [chunk.title for chunk in passage.chunks] == ["A", "B"]


def test_neighbours_are_merged_with_their_repeats() -> None:
    version, other = uuid4(), uuid4()
    chosen = build_context(
        [
            make_chunk(version, 1, 0, "The oil is changed yearly."),
            make_chunk(other, 7, 0, "The oil is changed yearly."),
            make_chunk(version, 2, 26, " Water is not."),
        ],
        100,
        count_words,
    )
    assert [passage.text for passage in chosen] == ["The oil is changed yearly. Water is not."]
    assert [chunk.document_id for chunk in chosen[0].chunks] == [version, version, other]


def test_one_document_does_not_fill_everything() -> None:
    """Another one's passage of nearly the same relevance takes a place; the order stays."""
    version = uuid4()
    many = [make_chunk(version, 2 * n, 9 * n, f"text {n}", reranked=0.9) for n in range(4)]
    other = hit("other", reranked=0.8)
    assert diversify([*many, other], 3) == [*many[:2], other]


def test_a_document_that_deserves_it_fills_everything() -> None:
    version = uuid4()
    many = [make_chunk(version, 2 * n, 9 * n, f"text {n}", reranked=0.9) for n in range(4)]
    assert diversify([*many, hit("other", reranked=0.3)], 4) == many


def test_what_has_no_relevance_keeps_its_order() -> None:
    hits = [hit("a", fused=0.1), hit("b", fused=2.0), hit("c", fused=1.0)]
    assert diversify(hits, 2) == hits[:2]


def test_part_of_a_better_hit_is_dropped() -> None:
    """What a passage holds already is not repeated."""
    assert context("The pump needs oil and water.", "needs oil and") == [
        "The pump needs oil and water."
    ]


def test_shifted_window_is_dropped() -> None:
    """Two windows of one text that share nearly everything are one passage."""
    text = [f"word{number}" for number in range(40)]
    first, second, far = text[:30], text[3:33], text[10:40]
    assert context(" ".join(first), " ".join(second), " ".join(far)) == [
        " ".join(first),
        " ".join(far),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The tower was built in 1887.", "The tower was built in 1889."),
        ("Smoking is allowed in the hall.", "Smoking is not allowed in the hall."),
        ("The pump needs three litres of oil.", "The pump needs five litres of oil."),
        ("oil", "boil"),
    ],
)
def test_texts_that_may_contradict_each_other_both_stay(first: str, second: str) -> None:
    """One different word, a number say, makes another statement."""
    assert not same(words_of(first), words_of(second))


def test_unspaced_text_is_compared() -> None:
    """The same Chinese text is dropped, another is not."""
    assert context("北京是首都。", "北京 是 首都", "上海很大。") == ["北京是首都。", "上海很大。"]


def test_budget_counts_title_headings_and_text() -> None:
    """A passage costs 3 words of heading and its own; what does not fit makes room for less."""
    assert context("a b", "c d e f g", "h", budget=10) == ["a b", "h"]


def test_best_hit_is_kept_in_any_case() -> None:
    """A prompt without a passage would be worse than one that is too long."""
    assert context("a b c d", "e", budget=1) == ["a b c d"]


def test_no_hits_hold_no_answer(settings: Settings) -> None:
    """Even with the threshold turned off."""
    settings.ANSWER_THRESHOLD = 0.0
    assert not holds_answer([])


@pytest.mark.parametrize(
    ("threshold", "best", "answer"),
    [(0.5, 0.6, True), (0.5, 0.4, False), (0.0, 0.0, True), (None, 0.3, False), (None, 0.5, True)],
)
def test_best_relevance_decides(
    threshold: float | None, best: float, answer: bool, settings: Settings
) -> None:
    """ANSWER_THRESHOLD, or the reranker's own 0.4 where it is not set; 0 turns it off."""
    settings.ANSWER_THRESHOLD = threshold
    use_reranker(settings, "tests.retrieval.search.test_context.CautiousReranker")
    found = [hit("a", fused=9.0, reranked=0.0), hit("b", fused=1.0, reranked=best)]
    assert holds_answer(found) is answer


@pytest.mark.parametrize(
    ("scores", "kept"),
    [((0.1, 0.4, 0.0, 0.4), "bd"), ((0.1, 0.4, 0.6), "abc"), ((0.1, 0.3), "")],
)
def test_what_cannot_be_judged_is_not_answered_from_beside_what_is_irrelevant(
    scores: tuple[float, ...], kept: str, settings: Settings
) -> None:
    """One has the threshold itself, 0.4, for its relevance."""
    settings.ANSWER_THRESHOLD = None
    use_reranker(settings, "tests.retrieval.search.test_context.CautiousReranker")
    found = [hit(name, reranked=score) for name, score in zip("abcd", scores, strict=False)]
    assert "".join(each.text for each in answerable(found)) == kept


def test_hits_that_were_not_reranked_are_answered_from(settings: Settings) -> None:
    """Other scores say nothing about an answer."""
    settings.ANSWER_THRESHOLD = 0.9
    assert holds_answer([hit("a", fused=0.1)])


def test_without_a_reranker_there_is_no_threshold(settings: Settings) -> None:
    """Nothing else has one."""
    settings.ANSWER_THRESHOLD = None
    use_reranker(settings, None)
    assert holds_answer([hit("a", reranked=0.1)])
