"""Making one list of what two searches found: pure functions of scores, high is good."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

Id = TypeVar("Id", bound=Hashable)

# The share of the best full-text score that the best one in a question's own language has.
FOREIGN = 0.3


def relative_score(
    semantic: Mapping[Id, float],
    full_text: Mapping[Id, float],
    semantic_weight: float = 1.0,
    full_text_weight: float = 0.5,
    languages: Mapping[Id, str] | None = None,
) -> dict[Id, float]:
    """Return the weighted sums of standardised scores, best first.

    What one search did not find counts as its lowest score (full text: 0, no word in common).
    A search that found nothing, or the same everywhere, has no say, and words have none about
    documents in `languages` that the question is not in.
    """
    ids = [*dict.fromkeys([*semantic, *full_text])]
    lowest = min(semantic.values(), default=0.0)
    by_meaning = standardise({id_: semantic.get(id_, lowest) for id_ in ids})
    foreign = foreign_languages(full_text, languages or {})
    by_words = standardise(
        {
            id_: full_text.get(id_, 0.0)
            for id_ in ids
            if not languages or languages.get(id_) not in foreign
        }
    )
    return _best_first(
        {
            id_: semantic_weight * by_meaning[id_] + full_text_weight * by_words.get(id_, 0.0)
            for id_ in ids
        }
    )


def foreign_languages(full_text: Mapping[Id, float], languages: Mapping[Id, str]) -> set[str]:
    """Return the languages in which hardly any word of the question was found.

    Names and numbers are found in every language, and so a little is; "" is an unknown language
    and never foreign.
    """
    best: dict[str, float] = {}
    for id_, language in languages.items():
        best[language] = max(best.get(language, 0.0), full_text.get(id_, 0.0))
    most = max(best.values(), default=0.0)
    return {language for language, score in best.items() if language and score < FOREIGN * most}


def rrf(
    semantic: Mapping[Id, float],
    full_text: Mapping[Id, float],
    semantic_weight: float = 1.0,
    full_text_weight: float = 0.5,
    k: int = 50,
) -> dict[Id, float]:
    """Return the sums of weight / (k + rank), best first; ranks count from 1."""
    fused: dict[Id, float] = {}
    for scores, weight in ((semantic, semantic_weight), (full_text, full_text_weight)):
        for rank, id_ in enumerate(_best_first(scores), start=1):
            fused[id_] = fused.get(id_, 0.0) + weight / (k + rank)
    return _best_first(fused)


def standardise(scores: Mapping[Id, float]) -> dict[Id, float]:
    """Return z-scores: by how many standard deviations each is above the mean."""
    values = np.fromiter(scores.values(), float, len(scores))
    if not len(values):
        return {}
    mean, deviation = values.mean(), values.std()
    # Equal scores differ by rounding only.
    if deviation <= 1e-9 * max(1.0, abs(mean)):
        return dict.fromkeys(scores, 0.0)
    return dict(zip(scores, ((values - mean) / deviation).tolist(), strict=True))


def _best_first(scores: Mapping[Id, float]) -> dict[Id, float]:
    return dict(sorted(scores.items(), key=lambda item: item[1], reverse=True))
