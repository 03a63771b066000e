"""Search by words: matched by PostgreSQL's full-text index, ranked by BM25 in the database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import BooleanField, F, Field, FloatField, Func, QuerySet, Value
from django.db.models.functions import Cast

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
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

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

    terms: tuple[WeightedTerm, ...]
    average_length: float


class _TsQuery(_Field):
    def db_type(self, connection: object) -> str:
        return "tsquery"


class _Matches(Func):
    """Whether a tsvector holds what a tsquery asks for."""

    template = "%(expressions)s"
    arg_joiner = " @@ "


class BM25(Func):
    """The BM25 score of a chunk.

    One expression writes the SQL of all terms: Django would take longer to put an expression a
    term together than PostgreSQL takes to compute them.

    PostgreSQL has no function for how often a term occurs. But ts_rank of one term, with weights
    of 1, is the sum of 1/i² for i = 1 … frequency, over π²/6; as what is missing to π²/6 is about
    1 / (frequency + ½), that gives the frequency, without reading the whole vector.

    A chunk's number of terms is not stored; its characters rank as well.
    """

    output_field = FloatField()

    def __init__(self, words: WeightedWords) -> None:
        super().__init__(F("fulltext"), F("char_start"), F("char_end"))
        self.words = words

    def as_sql(
        self,
        compiler: SQLCompiler,
        connection: BaseDatabaseWrapper,
        function: str | None = None,
        template: str | None = None,
        arg_joiner: str | None = None,
        **extra_context: Any,
    ) -> tuple[str, tuple[Any, ...]]:
        """Return the sum of the terms' parts."""
        vector, start, end = (compiler.compile(source)[0] for source in self.source_expressions)
        norm = f"({K1 * (1 - B)} + {K1 * B} * ({end} - {start}) / %s)"
        frequency = (
            f"round(1 / (pi() ^ 2 / 6 * (1 - ts_rank('{{1,1,1,1}}', {vector}, %s::tsquery))) - 0.5)"
        )
        part = f"CASE WHEN {vector} @@ %s::tsquery THEN %s / (1 + {norm} / {frequency}) ELSE 0 END"
        params: list[Any] = []
        for term in self.words.terms:
            query = fulltext.quote(term.form)
            params += [query, term.weight * (K1 + 1), self.words.average_length, query]
        return f"({' + '.join([part] * len(self.words.terms))})", tuple(params)


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
    return WeightedWords(tuple(weightiest), term_statistics.average_length())


def rarest(terms: Sequence[WeightedTerm]) -> list[WeightedTerm]:
    """Return the rarest terms with at most MATCHES matches in all, but at least one."""
    chosen: list[WeightedTerm] = []
    matches = 0
    for term in sorted(terms, key=lambda term: term.frequency):
        matches += term.frequency
        if chosen and matches > MATCHES:
            break
        chosen.append(term)
    return chosen


def _matches(terms: Sequence[WeightedTerm]) -> _Matches:
    query = fulltext.any_of(term.form for term in terms)
    return _Matches(F("fulltext"), Cast(Value(query), _TsQuery()), output_field=BooleanField())


def _scores(chunks: QuerySet[Chunk], words: WeightedWords) -> QuerySet[Chunk, Any]:
    return chunks.annotate(score=BM25(words)).values_list("id", "score")
