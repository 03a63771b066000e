"""Search by words: matched by PostgreSQL's full-text index, ranked by BM25 in the database."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.database import Statement
from retrieval.search import term_statistics
from retrieval.search.scope import Scope
from retrieval.search.settings import SearchSettings
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


def best(words: WeightedWords, scope: Scope, settings: SearchSettings) -> Statement:
    """Return SQL for (id, score) of the best chunks in scope that hold a word, by BM25.

    Where so many hold one that not all are ranked, those with common words only are left out if
    there are enough without them.
    """
    condition, params = scope.condition
    rank, weights = bm25(words)
    hybrid = settings.use_hybrid_search
    limit = settings.hybrid_settings.full_text_limit if hybrid else settings.top_k
    # Where few chunks are in scope, those with common words only may be needed, too. Beside what
    # is near in meaning they are not.
    wanted = 1 if hybrid else settings.offset + settings.limit
    terms = words.terms if scope.few else rarest(words.terms, wanted)
    matching = fulltext.any_of(term.form for term in terms)
    return Statement(
        f"SELECT chunk.id, {rank} AS score FROM {scope.searched}"
        f" WHERE chunk.fulltext @@ %s::tsquery AND {condition}"
        f" ORDER BY score DESC LIMIT {limit:d}",
        [*weights, matching, *params],
    )


def bm25(words: WeightedWords) -> Statement:
    """Return SQL for the BM25 score of `chunk`, 0 if it holds no word.

    PostgreSQL has no function for how often a term occurs. But ts_rank of one term, with weights
    of 1, is the sum of 1/i² for i = 1 … frequency, over π²/6; as what is missing to π²/6 is about
    1 / (frequency + ½), that gives the frequency, without reading the whole vector.

    A chunk's number of terms is not stored; its characters rank as well.
    """
    # Numbers are floats for certain: PostgreSQL takes 0.3 for a numeric, and is slow with these.
    norm = (
        f"('{K1 * (1 - B)}'::float8 + '{K1 * B}'::float8"
        " * (chunk.char_end - chunk.char_start) / %s::float8)"
    )
    frequency = (
        f"round('{6 / math.pi**2}'::float8"
        " / ('1'::float8 - ts_rank('{1,1,1,1}', chunk.fulltext, %s::tsquery)) - '0.5'::float8)"
    )
    # A frequency of 0 makes 0, without a second look whether the term is there.
    part = f"%s::float8 * ('1'::float8 - {norm} / ({norm} + {frequency}))"
    params: list[object] = []
    for term in words.terms:
        query = fulltext.quote(term.form)
        average = words.average_length
        params += [term.weight * (K1 + 1), average, average, query]
    return Statement(f"({' + '.join([part] * len(words.terms)) or '0'})", params)


async def weigh(text: str) -> WeightedWords:
    """Return the forms of the terms of `text` that any chunk holds, each once, weightiest first.

    The forms a term has in several languages share one frequency: a form that is rare because
    its language is rare tells no more than the others.
    """
    languages = await term_statistics.languages()
    variants = fulltext.variants(text, languages)[:COUNTED_TERMS]
    frequencies = await term_statistics.frequencies({form for forms in variants for form in forms})
    chunks = await term_statistics.chunk_count()
    weighted: dict[str, WeightedTerm] = {}
    for forms in variants:
        total = sum(frequencies[form] for form in forms)
        weight = term_statistics.inverse_frequency(total, chunks)
        for form in forms:
            if frequencies[form] and form not in weighted:
                weighted[form] = WeightedTerm(form, frequencies[form], weight)
    weightiest = sorted(weighted.values(), key=lambda term: -term.weight)[:SEARCHED_TERMS]
    return WeightedWords(tuple(weightiest), await term_statistics.average_length())


def rarest(terms: Sequence[WeightedTerm], wanted: int = 1) -> list[WeightedTerm]:
    """Return the rarest terms with at most MATCHES matches in all, but at least `wanted`."""
    chosen: list[WeightedTerm] = []
    matches = 0
    for term in sorted(terms, key=lambda term: term.frequency):
        if matches >= wanted and matches + term.frequency > MATCHES:
            break
        matches += term.frequency
        chosen.append(term)
    return chosen
