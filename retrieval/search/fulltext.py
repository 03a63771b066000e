"""Search by words: matched by PostgreSQL's full-text index, ranked by BM25 in the database."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import BooleanField, F, Field, FloatField, Func, QuerySet, Value
from django.db.models.functions import Cast

from retrieval.models import Chunk
from retrieval.search import term_statistics
from retrieval.search.scope import Scope
from retrieval.text import fulltext


@dataclass(frozen=True)
class WeightedWords:
    """A question as full-text search takes it, and the average length of a chunk in characters."""

    terms: list[WeightedTerm]
    average_length: float


if TYPE_CHECKING:
    _Field = Field[str, str]
else:
    _Field = Field

# Ranking reads every match, so chunks are matched by the question's rarest terms, as many as
# together have about this many matches, and ranked by all of them.
MATCHES = 5000


@dataclass(frozen=True)
class WeightedTerm:
    """A form of a term as documents hold it, how many chunks do, and its weight (the IDF)."""

    form: str
    frequency: int
    weight: float


class _PostgresType(_Field):
    """A field that is nothing but the name of its type, to cast to."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.type_name = name

    def db_type(self, connection: object) -> str:
        return self.type_name


class _Matches(Func):
    """Whether a tsvector holds what a tsquery asks for."""

    template = "%(expressions)s"
    arg_joiner = " @@ "


class BM25(Func):
    """BM25 of a tsvector of a length, for terms (tsquery[]), their weights, an average length.

    Lengths are characters: a chunk's number of terms is not stored, and ranks no better.

    k1 is 1.2 and b 0.75: 2.2 is k1 + 1, 0.3 is k1 (1 - b), 0.9 is k1 b.

    PostgreSQL has no function for how often a term occurs. But ts_rank of one term, with weights
    of 1, is the sum of 1/i² for i = 1 … frequency, over π²/6; as what is missing to π²/6 is about
    1 / (frequency + ½), that gives the frequency, without reading the whole vector.
    """

    template = (
        "(SELECT coalesce(sum(term.weight * 2.2 / (1 + (0.3 + 0.9 * length / average)"
        " / round(1 / (1.6449340668 * (1 - rank)) - 0.5))), 0)"
        " FROM (VALUES (%(expressions)s)) AS chunk (terms, length, queries, weights, average),"
        " unnest(queries, weights) AS term (query, weight),"
        " CAST(ts_rank('{1,1,1,1}', terms, query) AS float8) AS rank"
        " WHERE rank > 0)"
    )
    output_field = FloatField()


def search(words: WeightedWords, scope: Scope, limit: int) -> dict[UUID, float]:
    """Return the BM25 scores of the `limit` best chunks that hold a word, best first."""
    if not words.terms:
        return {}
    matching = scope.chunks().filter(_matches(rarest(words.terms)))
    return dict(_scores(matching, words).order_by(F("score").desc())[:limit])


def score(words: WeightedWords, chunks: Collection[UUID]) -> dict[UUID, float]:
    """Return the BM25 scores of the given chunks, those that hold a word."""
    if not words.terms or not chunks:
        return {}
    given = Chunk.objects.filter(id__in=chunks).filter(_matches(words.terms))
    return dict(_scores(given, words))


def weigh(text: str) -> WeightedWords:
    """Return the forms of the terms of `text` that any chunk holds, each once, weighted.

    The forms a term has in several languages share one frequency: a form that is rare because
    its language is rare tells no more than the others.
    """
    variants = fulltext.variants(text, term_statistics.languages())
    frequencies = term_statistics.frequencies({form for forms in variants for form in forms})
    chunks = term_statistics.chunk_count()
    weighted: dict[str, WeightedTerm] = {}
    for forms in variants:
        total = sum(frequencies[form] for form in forms)
        weight = term_statistics.inverse_frequency(total, chunks)
        for form in forms:
            if frequencies[form] and form not in weighted:
                weighted[form] = WeightedTerm(form, frequencies[form], weight)
    return WeightedWords(list(weighted.values()), term_statistics.average_length())


def rarest(terms: list[WeightedTerm]) -> list[WeightedTerm]:
    """Return the rarest terms with at most MATCHES matches in all, but at least one."""
    chosen: list[WeightedTerm] = []
    matches = 0
    for term in sorted(terms, key=lambda term: term.frequency):
        matches += term.frequency
        if chosen and matches > MATCHES:
            break
        chosen.append(term)
    return chosen


def _matches(terms: list[WeightedTerm]) -> _Matches:
    query = fulltext.any_of(term.form for term in terms)
    return _Matches(
        F("fulltext"), Cast(Value(query), _PostgresType("tsquery")), output_field=BooleanField()
    )


def _scores(chunks: QuerySet[Chunk], words: WeightedWords) -> QuerySet[Chunk, Any]:
    queries = fulltext.array(fulltext.quote(term.form) for term in words.terms)
    weights = fulltext.array(str(term.weight) for term in words.terms)
    bm25 = BM25(
        F("fulltext"),
        F("char_end") - F("char_start"),
        Cast(Value(queries), _PostgresType("tsquery[]")),
        Cast(Value(weights), _PostgresType("float8[]")),
        Cast(Value(words.average_length), FloatField()),
    )
    return chunks.annotate(score=bm25).values_list("id", "score")
