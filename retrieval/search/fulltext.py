"""Search by words: matched by PostgreSQL's full-text index, ranked by BM25 in the database."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import (
    BooleanField,
    Case,
    F,
    Field,
    FloatField,
    Func,
    QuerySet,
    Value,
    When,
)
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Cast, Round

from retrieval.models import Chunk
from retrieval.search import term_statistics
from retrieval.search.scope import Scope
from retrieval.text import fulltext

K1 = 1.2
B = 0.75
# Ranking reads every match, so chunks are matched by the question's rarest terms, as many as
# together have about this many matches, and ranked by all of them.
MATCHES = 5000
# Of a question as long as a document, the first so many terms are looked at and the weightiest
# so many searched for.
COUNTED_TERMS = 200
SEARCHED_TERMS = 40

if TYPE_CHECKING:
    _Field = Field[str, str]
else:
    _Field = Field


@dataclass(frozen=True)
class WeightedTerm:
    """A form of a term as documents hold it, how many chunks do, and its weight (the IDF)."""

    form: str
    frequency: int
    weight: float


@dataclass(frozen=True)
class WeightedWords:
    """A question as full-text search takes it, and the average length of a chunk in characters."""

    terms: list[WeightedTerm]
    average_length: float


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
    """Return the forms of the terms of `text` that any chunk holds, each once, weightiest first.

    The forms a term has in several languages share one frequency: a form that is rare because
    its language is rare tells no more than the others.
    """
    variants = fulltext.variants(text, term_statistics.languages())[:COUNTED_TERMS]
    frequencies = term_statistics.frequencies({form for forms in variants for form in forms})
    chunks = term_statistics.chunk_count()
    weighted: dict[str, WeightedTerm] = {}
    for forms in variants:
        total = sum(frequencies[form] for form in forms)
        weight = term_statistics.inverse_frequency(total, chunks)
        for form in forms:
            if frequencies[form] and form not in weighted:
                weighted[form] = WeightedTerm(form, frequencies[form], weight)
    weightiest = sorted(weighted.values(), key=lambda term: -term.weight)[:SEARCHED_TERMS]
    return WeightedWords(weightiest, term_statistics.average_length())


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
    # A chunk's number of terms is not stored; its characters rank as well.
    length = Cast(F("char_end") - F("char_start"), FloatField()) / words.average_length
    parts = (_term_score(term, K1 * (1 - B + B * length)) for term in words.terms)
    return chunks.annotate(score=reduce(operator.add, parts)).values_list("id", "score")


def _term_score(term: WeightedTerm, norm: CombinedExpression) -> Case:
    """Return the part of the BM25 score that is a term's.

    PostgreSQL has no function for how often a term occurs. But ts_rank of one term, with weights
    of 1, is the sum of 1/i² for i = 1 … frequency, over π²/6; as what is missing to π²/6 is about
    1 / (frequency + ½), that gives the frequency, without reading the whole vector.
    """
    query = Cast(Value(fulltext.quote(term.form)), _PostgresType("tsquery"))
    weights = Value("{1,1,1,1}")
    rank = Func(weights, F("fulltext"), query, function="ts_rank", output_field=FloatField())
    frequency = Round(1 / (math.pi**2 / 6 * (1 - rank)) - 0.5)
    return Case(
        When(_matches([term]), then=term.weight * (K1 + 1) / (1 + norm / frequency)),
        default=0.0,
        output_field=FloatField(),
    )
