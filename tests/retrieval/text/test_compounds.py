"""Compounds, by the vocabulary of the bundled embedding model."""

import pytest
from pytest_django import Settings

from retrieval.text.compounds import parts
from retrieval.text.terms import index_terms, query_terms


@pytest.fixture(autouse=True)
def _forget() -> None:
    parts.cache_clear()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("bibliotheksordnung", ("bibliothek", "ordnung")),
        ("urlaubsanspruch", ("urlaub", "anspruch")),
        ("kundigungsfrist", ("kundigung", "frist")),
        ("wochenende", ("wochen", "ende")),
        ("monatsende", ("monat", "ende")),
        ("familiennamen", ("familien", "namen")),
        ("krankenversicherung", ("kranken", "versicherung")),
        ("umweltschutzpartei", ("umweltschutz", "partei")),
        ("gesellschaft", ()),
        ("verantwortung", ()),
        ("haus", ()),
        ("ab1234567890", ()),
    ],
)
def test_a_compound_is_two_words(word: str, expected: tuple[str, ...]) -> None:
    assert parts(word) == expected


def test_a_document_is_found_by_the_parts_of_its_compounds() -> None:
    """They stand behind its words, whose places phrases are found by."""
    terms = index_terms("Die Bibliotheksordnung gilt.", "de")
    assert len(terms) == 5
    assert {*query_terms("Ordnung", "de"), *query_terms("Bibliothek", "de")} <= set(terms[3:])


def test_languages_without_compounds_are_left_alone() -> None:
    assert index_terms("Bibliotheksordnung", "en") == ["bibliotheksordnung"]


def test_without_a_vocabulary_nothing_is_taken_apart(settings: Settings) -> None:
    path = "tests.fakes.HashEmbedder"
    settings.RAG_BACKENDS = {**settings.RAG_BACKENDS, "embedder": {"BACKEND": path}}
    assert parts("bibliotheksordnung") == ()
