"""BM25 in PostgreSQL."""

from __future__ import annotations

import math

import pytest

from retrieval.models import Chunk
from retrieval.search import Scope, fulltext, term_statistics
from retrieval.search.fulltext import WeightedTerm
from tests.retrieval.search.conftest import AddDocument

TEXTS = (
    "pump",
    "pump pump pump valve",
    "pump pump pump pump pump pump pump pump pump pump valve oil gasket",
    "valve gasket oil brass water",
    "water",
    "nothing else",
)


def bm25(question: list[str], text: str) -> float:
    """Return BM25 as the textbook has it, lengths in characters."""
    documents = [other.split() for other in TEXTS]
    average = sum(len(other) for other in TEXTS) / len(TEXTS)
    words = text.split()
    total = 0.0
    for term in question:
        holding = sum(term in other for other in documents)
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        length = 1 - 0.75 + 0.75 * len(text) / average
        total += idf * words.count(term) * 2.2 / (words.count(term) + 1.2 * length)
    return total


@pytest.mark.parametrize("question", ["pump", "pump valve", "gasket oil brass"])
def test_score_is_bm25(question: str, add_document: AddDocument, scope: Scope) -> None:
    """PostgreSQL's score is that of the formula's, for one word or several."""
    add_document(*TEXTS, language="")
    found = fulltext.search(fulltext.weigh(question), scope, 10)
    texts = dict(Chunk.objects.values_list("id", "text"))
    expected = {text: bm25(question.split(), text) for text in TEXTS}
    assert {texts[id_]: score for id_, score in found.items()} == pytest.approx(
        {text: score for text, score in expected.items() if score}, rel=1e-5
    )
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_given_chunks_are_scored(add_document: AddDocument, scope: Scope) -> None:
    """Chunks that another search found get the score that this one would have given them."""
    add_document(*TEXTS)
    found = fulltext.search(fulltext.weigh("pump valve"), scope, 10)
    every = list(Chunk.objects.values_list("id", flat=True))
    assert fulltext.score(fulltext.weigh("pump valve"), every) == pytest.approx(found)
    assert fulltext.score(fulltext.weigh("pump valve"), []) == {}


def test_limit_keeps_the_best(add_document: AddDocument, scope: Scope) -> None:
    """The best chunks are returned, no more than asked for."""
    add_document(*TEXTS)
    every = fulltext.search(fulltext.weigh("pump valve"), scope, 10)
    assert list(fulltext.search(fulltext.weigh("pump valve"), scope, 2)) == list(every)[:2]


def test_words_that_no_chunk_holds_find_nothing(add_document: AddDocument, scope: Scope) -> None:
    """Neither do they with no word at all."""
    add_document(*TEXTS)
    assert fulltext.search(fulltext.weigh("zeppelin"), scope, 10) == {}
    assert fulltext.search(fulltext.weigh("?! -- ()"), scope, 10) == {}


def test_question_as_long_as_a_document(add_document: AddDocument, scope: Scope) -> None:
    """Thousands of words are cut to the weightiest ones, and find what holds them."""
    add_document("brass", " ".join(f"word{n}" for n in range(300)))
    question = " ".join(["brass", *(f"word{n}" for n in range(3000))])
    weighed = fulltext.weigh(question)
    assert len(weighed.terms) == fulltext.SEARCHED_TERMS
    assert len(fulltext.search(weighed, scope, 10)) == 2


def test_common_words_are_not_matched_beside_rare_ones() -> None:
    """Matching stops before it has to read too many chunks, but never matches nothing."""
    rare = WeightedTerm("gasket", 3, 5.0)
    middling = WeightedTerm("pump", fulltext.MATCHES - 3, 2.0)
    common = WeightedTerm("the", fulltext.MATCHES * 2, 0.1)
    assert fulltext.rarest([common, rare, middling]) == [rare, middling]
    assert fulltext.rarest([common]) == [common]


def test_forms_of_a_term_share_its_weight(add_document: AddDocument) -> None:
    """A form that only a few documents of another language hold is no rarer a term."""
    add_document("organisation", language="")
    add_document("organisations", "organisation", "organisational", "pump", language="en")
    weights = {term.form: term.weight for term in fulltext.weigh("organisation").terms}
    assert set(weights) == {"organisation", "organis"}
    assert len(set(weights.values())) == 1


def test_frequencies_are_counted_anew_while_they_are_small(add_document: AddDocument) -> None:
    """A document that was just added counts at once."""
    add_document("pump", language="")
    assert term_statistics.frequencies(["pump", "valve"]) == {"pump": 1, "valve": 0}
    add_document("pump valve", language="")
    assert term_statistics.frequencies(["pump", "valve"]) == {"pump": 2, "valve": 1}


def test_slow_counts_are_kept(add_document: AddDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was slow to count is not counted for each question."""
    monkeypatch.setattr(term_statistics, "SLOW_COUNT", 2)
    add_document("pump", "pump")
    assert term_statistics.frequencies(["pump"]) == {"pump": 2}
    add_document("pump", language="")
    assert term_statistics.frequencies(["pump"]) == {"pump": 2}
    term_statistics.forget()
    assert term_statistics.frequencies(["pump"]) == {"pump": 3}
