"""BM25 in PostgreSQL."""

from __future__ import annotations

import math

import pytest

from retrieval.database import in_thread
from retrieval.search import Scope, SearchSettings, candidates, fulltext, term_statistics
from retrieval.search.fulltext import WeightedTerm
from tests.retrieval.search.conftest import AddDocument

pytestmark = pytest.mark.django_db(transaction=True)

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


async def find(question: str, scope: Scope, **settings: object) -> dict[str, float]:
    """Return the texts of the best chunks that hold a word of the question, with their scores."""
    words = await fulltext.weigh(question)
    by_words = SearchSettings.parse({"use_semantic_search": False, **settings})
    hits = await candidates.load(scope, by_words, None, words)
    found = {hit.text: hit.scores["fulltext"] for hit in hits}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


@pytest.mark.parametrize("question", ["pump", "pump valve", "gasket oil brass"])
async def test_score_is_bm25(question: str, add_document: AddDocument, scope: Scope) -> None:
    """PostgreSQL's score is that of the formula's, for one word or several."""
    await in_thread(add_document, *TEXTS, language="")
    expected = {text: bm25(question.split(), text) for text in TEXTS}
    holding = {text: score for text, score in expected.items() if score}
    found = await find(question, scope)
    assert found == pytest.approx(holding, rel=1e-5)
    assert list(found) == sorted(holding, key=lambda text: -holding[text])


async def test_limit_keeps_the_best(add_document: AddDocument, scope: Scope) -> None:
    """The best chunks are returned, no more than asked for."""
    await in_thread(add_document, *TEXTS)
    every = list(await find("pump valve", scope))
    assert list(await find("pump valve", scope, top_k=2)) == every[:2]


async def test_words_that_no_chunk_holds_find_nothing(
    add_document: AddDocument, scope: Scope
) -> None:
    """Neither do they with no word at all."""
    await in_thread(add_document, *TEXTS)
    assert await find("zeppelin", scope) == {}
    assert await find("?! -- ()", scope) == {}


async def test_question_as_long_as_a_document(add_document: AddDocument, scope: Scope) -> None:
    """Thousands of words are cut to the weightiest ones, and find what holds them."""
    await in_thread(add_document, "brass", " ".join(f"word{n}" for n in range(300)))
    question = " ".join(["brass", *(f"word{n}" for n in range(3000))])
    assert len((await fulltext.weigh(question)).terms) == fulltext.SEARCHED_TERMS
    assert len(await find(question, scope)) == 2


def test_common_words_are_not_matched_beside_rare_ones() -> None:
    """Matching stops before it has to read too many chunks, but never matches nothing."""
    rare = WeightedTerm("gasket", 3, 5.0)
    middling = WeightedTerm("pump", fulltext.MATCHES - 3, 2.0)
    common = WeightedTerm("the", fulltext.MATCHES * 2, 0.1)
    assert fulltext.rarest([common, rare, middling]) == [rare, middling]
    assert fulltext.rarest([common]) == [common]


def test_common_terms_are_matched_where_rare_ones_are_too_few() -> None:
    rare = WeightedTerm("rare", 3, 9.0)
    common = WeightedTerm("common", fulltext.MATCHES, 0.1)
    assert fulltext.rarest([common, rare], wanted=3) == [rare]
    assert fulltext.rarest([common, rare], wanted=4) == [rare, common]


async def test_forms_of_a_term_share_its_weight(add_document: AddDocument) -> None:
    """A form that only a few documents of another language hold is no rarer a term."""
    await in_thread(add_document, "organisation", language="")
    await in_thread(
        add_document, "organisations", "organisation", "organisational", "pump", language="en"
    )
    weights = {term.form: term.weight for term in (await fulltext.weigh("organisation")).terms}
    assert set(weights) == {"organisation", "organis"}
    assert len(set(weights.values())) == 1


async def test_frequencies_are_counted_anew_while_they_are_small(add_document: AddDocument) -> None:
    """A document that was just added counts at once."""
    await in_thread(add_document, "pump", language="")
    assert await term_statistics.frequencies(["pump", "valve"]) == {"pump": 1, "valve": 0}
    await in_thread(add_document, "pump valve", language="")
    assert await term_statistics.frequencies(["pump", "valve"]) == {"pump": 2, "valve": 1}


async def test_slow_counts_are_kept(
    add_document: AddDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was slow to count is not counted for each question."""
    monkeypatch.setattr(term_statistics, "SLOW_COUNT", 2)
    await in_thread(add_document, "pump", "pump")
    assert await term_statistics.frequencies(["pump"]) == {"pump": 2}
    await in_thread(add_document, "pump", language="")
    assert await term_statistics.frequencies(["pump"]) == {"pump": 2}
    term_statistics.forget()
    assert await term_statistics.frequencies(["pump"]) == {"pump": 3}
