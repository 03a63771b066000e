"""A question, made ready to search with."""

from __future__ import annotations

from retrieval.backends.base import Query
from retrieval.text import language
from retrieval.text.terms import query_terms, words


def analyse(text: str) -> Query:
    """Return a question with its terms: stems in the language it seems to be in, each once."""
    text = text.strip()
    guessed = language.guess(words(text))
    return Query(text, tuple(dict.fromkeys(query_terms(text, guessed))), guessed)
