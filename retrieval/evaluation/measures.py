"""How good rankings are, how fast they were made, and how well two kinds are told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import ir_measures
import numpy as np
from ir_measures import RR, R, nDCG

if TYPE_CHECKING:
    from retrieval.evaluation.stages import Ranking

MEASURES = {"ndcg@10": nDCG @ 10, "recall@10": R @ 10, "recall@100": R @ 100, "mrr": RR @ 10}


def quality(
    rankings: Sequence[Ranking], judgements: Mapping[str, Mapping[str, int]]
) -> dict[str, float]:
    """Return the measures' means over the questions that were asked, those of no hit included."""
    asked = {ranking.query for ranking in rankings}
    # Not scores: equal ones would be ordered by the documents' names.
    run = {
        ranking.query: {
            document: float(len(ranking.documents) - place)
            for place, document in enumerate(ranking.documents)
        }
        for ranking in rankings
    }
    judged = {query: dict(scores) for query, scores in judgements.items() if query in asked}
    found = ir_measures.calc_aggregate(MEASURES.values(), judged, run)
    return {name: round(float(found[measure]), 4) for name, measure in MEASURES.items()}


def latency(rankings: Sequence[Ranking]) -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds."""
    times = [ranking.seconds * 1000 for ranking in rankings]
    p50, p95 = np.percentile(times, (50, 95))
    return {"p50_ms": round(float(p50), 1), "p95_ms": round(float(p95), 1)}


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return how likely a positive score is above a negative one; equal ones count half.

    Raises ValueError if one of them is empty.
    """
    if not positive or not negative:
        raise ValueError("Both kinds need a score.")
    ordered = np.sort(np.asarray(negative, float))
    below = np.searchsorted(ordered, positive, "left")
    not_above = np.searchsorted(ordered, positive, "right")
    return float((below + not_above).mean() / 2 / len(ordered))
