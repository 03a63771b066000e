"""Languages: naming, guessing, stemming."""

from __future__ import annotations

import pytest

from retrieval.text import language
from retrieval.text.terms import words


@pytest.mark.parametrize(
    ("given", "code"),
    [("de", "de"), ("DE", "de"), ("de-CH", "de"), ("zh_Hans", "zh"), ("deu", "de"), ("cmn", "zh"),
     ("und", ""), ("", ""), ("klingon", "")],
)  # fmt: skip
def test_normalise(given: str, code: str) -> None:
    """Codes of two and three letters, with or without a region, are one form."""
    assert language.normalise(given) == code


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("Wie groß ist die Stadt?", "de"),
        ("How large is the city?", "en"),
        ("¿Cuál es la ciudad más grande?", "es"),
        ("Où est la plus grande ville ?", "fr"),
        ("Zürich", ""),
        ("首都在哪", ""),
    ],
)
def test_guess(question: str, code: str) -> None:
    """A short question's language is told by its little words, if it has any."""
    assert language.guess(words(question)) == code


def test_every_stemmer_works_on_words() -> None:
    """The names in the table are Snowball's."""
    for code in language.STEMMERS:
        assert len(language.stem(["word", "слово", "كلمة"], code)) == 3


def test_stop_words_are_folded() -> None:
    """They are compared with folded words."""
    assert {"fur", "uber"} <= language.stop_words("de")
    assert language.stop_words("xx") == frozenset()
