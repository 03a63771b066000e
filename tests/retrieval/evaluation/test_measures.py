"""Measures, checked against values computed by hand."""

import math

import pytest

from retrieval.evaluation.measures import auroc, latency, quality
from retrieval.evaluation.stages import Ranking


def test_quality_of_a_ranking() -> None:
    """The relevant document in second place: gain 1 / log2(3)."""
    found = quality([Ranking("q", ("x", "y"), 0)], {"q": {"y": 1}})
    assert found == {
        "ndcg@10": round(1 / math.log2(3), 4), "recall@10": 1.0, "recall@100": 1.0, "mrr": 0.5,
    }  # fmt: skip


def test_question_without_a_hit_counts_as_none() -> None:
    """What finds nothing brings the mean down."""
    found = quality([Ranking("q", ("y",), 0), Ranking("r", (), 0)], {"q": {"y": 1}, "r": {"y": 1}})
    assert found["ndcg@10"] == found["mrr"] == 0.5


def test_recall_looks_further_than_ten() -> None:
    """Document number 50 is in the first hundred only."""
    documents = tuple(str(number) for number in range(100))
    found = quality([Ranking("q", documents, 0)], {"q": {"49": 1}})
    assert (found["recall@10"], found["recall@100"]) == (0.0, 1.0)


def test_latency_is_in_milliseconds() -> None:
    """Median and 95th percentile of the questions."""
    rankings = [Ranking("q", (), number / 1000) for number in range(1, 102)]
    assert latency(rankings) == {"p50_ms": 51.0, "p95_ms": 96.0}


def test_auroc() -> None:
    """Three of four pairs in the right order, of which equal scores are half."""
    assert auroc([3, 2], [1, 0]) == 1.0
    assert auroc([0], [1]) == 0.0
    assert auroc([2, 1], [1, 0]) == 0.875
    with pytest.raises(ValueError, match="score"):
        auroc([], [1])
