"""Questions made ready."""

from __future__ import annotations

import pytest

from retrieval.search import analyse


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("  Which cities are the largest cities? ", ("citi", "largest")),
        ("Wie alt sind die Häuser in Zürich?", ("alt", "haus", "zurich")),
        ("AB-1234 -x", ("ab", "1234", "ab1234", "x")),
        ("首都", ("首都",)),
        ("who is who", ("who", "is")),
        ("?!", ()),
    ],
)
def test_terms(text: str, terms: tuple[str, ...]) -> None:
    """Terms are stems without stop words, each once, in order."""
    query = analyse(text)
    assert query.terms == terms
    assert query.text == text.strip()
