"""`"exact words"` and `-excluded`, where they are asked for."""

from __future__ import annotations

import pytest

from retrieval.database import in_thread
from retrieval.search import Scope, SearchSettings, analyse, retrieve
from retrieval.search.operators import MOST, plain, read
from tests.retrieval.search.conftest import AddDocument

OPERATORS = {"query_syntax": "operators", "rerank": False}
TEXTS = (
    "The red valve leaks.",
    "The valve is red.",
    "A pump with a red seal, AB-1234.",
    "东京塔很高",
)


@pytest.mark.parametrize(
    ("text", "left", "phrases", "excluded"),
    [
        ("red valve", "red valve", (), ()),
        ('a "red valve" leaks', "a red valve leaks", ("red valve",), ()),
        ("“red valve” „blue seal“ «pump»", "red valve blue seal pump",
         ("red valve", "blue seal", "pump"), ()),
        ("valve -red", "valve", (), ("red",)),
        ('valve -"red seal" pump', "valve pump", (), ("red seal",)),
        ("-AB-12", "", (), ("AB-12",)),
        ("AB-12 - x -- y", "AB-12 - x -- y", (), ()),
        ('5" pipe', '5" pipe', (), ()),
        ('a "" b " " c', 'a "" b " " c', (), ()),
        ('say "no', 'say "no', (), ()),
    ],
)  # fmt: skip
def test_operators_are_read(
    text: str, left: str, phrases: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    """Quotes and a minus at the beginning of a word are operators; nothing else is."""
    assert read(text) == (left, phrases, excluded)


def test_operators_are_bounded() -> None:
    """More than so many are words."""
    assert len(read("-x " * 1000).excluded) == MOST


async def found(question: str, scope: Scope, **settings: object) -> set[str]:
    """Return which of the texts are found, by their first two words."""
    how = SearchSettings.parse(OPERATORS | settings)
    hits = (await retrieve(analyse(question), scope, how)).hits
    return {hit.text for hit in hits}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("valve", (0, 1, 2, 3)),
        ('"red valve"', (0,)),
        ('"RED Valves"', (0,)),
        ("red -valve", (2, 3)),
        ("red -leaking", (1, 2, 3)),
        ('red -"red valve"', (1, 2, 3)),
        ('"the" red', (0, 1)),
        ('"ab-1234" pump', (2,)),
        ("pump -AB1234", (0, 1, 3)),
        ("pump -AB-99", (0, 1, 2, 3)),
        ('高 "京塔"', (3,)),
        ("red -东京", (0, 1, 2)),
        ('"red pump"', ()),
        ("-valve", ()),
    ],
)
async def test_operators_hold_for_both_searches(
    question: str, numbers: tuple[int, ...], add_document: AddDocument, scope: Scope
) -> None:
    """What is near in meaning is left out, too, if it has an excluded word or lacks the phrase."""
    await in_thread(add_document, *TEXTS)
    assert await found(question, scope) == {TEXTS[number] for number in numbers}


CODES = ("Gasket AB-1234.", "Gasket AB-1234/C.", "Gasket AB1234.", "Gasket AB-12345.", "Gasket C.")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("gasket -AB-1234", (3, 4)),
        ("gasket -AB1234", (3, 4)),
        ("gasket -AB-1234/C", (0, 2, 3, 4)),
        ("gasket -X-1,AB-1234", (0, 1, 2, 3, 4)),
        ('gasket -"gasket AB-1234"', (2, 3, 4)),
        ('"AB-1234" gasket', (0, 1, 2)),
    ],
)
async def test_a_longer_code_holds_what_it_begins_with(
    question: str, numbers: tuple[int, ...], add_document: AddDocument, scope: Scope
) -> None:
    await in_thread(add_document, *CODES)
    assert await found(question, scope) == {CODES[number] for number in numbers}


@pytest.mark.django_db(transaction=True)
async def test_nothing_is_an_operator_by_default(add_document: AddDocument, scope: Scope) -> None:
    """A minus and quotes in a question exclude nothing."""
    await in_thread(add_document, *TEXTS)
    assert len(await found('"red pump" -valve', scope, query_syntax="plain")) == len(TEXTS)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("text", ["'", "\\", "' | 'x", "a' <-> 'b", "x:*", "!x & (y"])
async def test_signs_of_tsquery_are_text(
    text: str, add_document: AddDocument, scope: Scope
) -> None:
    """What means something to PostgreSQL means nothing in a phrase."""
    await in_thread(add_document, *TEXTS)
    assert await found(f'"{text} nowhere"', scope) == set()
    assert len(await found(f'red -"{text} nowhere"', scope)) == len(TEXTS)


@pytest.mark.parametrize(
    ("syntax", "text"), [("operators", "red pump"), ("plain", '"red pump" -b')]
)
def test_reranker_sees_no_operators(syntax: str, text: str) -> None:
    """An excluded word would draw a reranker to it."""
    how = SearchSettings.parse({"query_syntax": syntax})
    assert plain(analyse('"red pump" -b'), how).text == text
