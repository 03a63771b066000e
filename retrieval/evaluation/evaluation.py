"""Evaluating a set from beginning to end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from retrieval.evaluation import honesty, measures, stages
from retrieval.evaluation.datasets import Dataset, SetQuery
from retrieval.evaluation.loading import Progress, load_set
from retrieval.evaluation.scratch import scratch_tables
from retrieval.evaluation.stages import StageName

UNANSWERABLE = "unanswerable"


def evaluate(
    dataset: Dataset,
    wanted: Sequence[StageName],
    progress: Progress,
    no_answer: Sequence[Dataset] | None = None,
) -> dict[str, Any]:
    """Load a set, ask its judged questions of each stage, and return the measures.

    With `no_answer`, none or more other sets, also how well the questions of those sets, and those
    the set itself calls unanswerable, are told from its own. Raises BackendError.
    """
    with scratch_tables():
        load_set(dataset, progress)
        result: dict[str, Any] = {
            "dataset": dataset.name,
            "documents": len(dataset.documents),
            "queries": len(dataset.judged),
            "stages": [_measure(dataset, stage, progress) for stage in wanted],
        }
        if no_answer is not None:
            others = _others(dataset, no_answer)
            progress(f"{dataset.name}: questions without an answer")
            result["no_answer"] = asyncio.run(honesty.tell_apart(dataset, others))
    return result


def _measure(dataset: Dataset, stage: StageName, progress: Progress) -> dict[str, Any]:
    progress(f"{dataset.name}: {stage}")
    rankings = asyncio.run(stages.run(stage, dataset.judged))
    return {
        "stage": stage,
        **measures.quality(rankings, dataset.judgements),
        **measures.latency(rankings),
    }


def _others(dataset: Dataset, sets: Sequence[Dataset]) -> list[tuple[str, Sequence[SetQuery]]]:
    own = dataset.unanswerable
    others: list[tuple[str, Sequence[SetQuery]]] = [(UNANSWERABLE, own)] if own else []
    return others + [(other.name, other.queries) for other in sets if other.name != dataset.name]


def sample(dataset: Dataset, count: int) -> Dataset:
    """Return the set with about so many of its questions, evenly chosen; all documents stay."""
    step = max(1, len(dataset.queries) // count)
    queries = dataset.queries[::step]
    kept = {query.id for query in queries}
    judgements = {query: judged for query, judged in dataset.judgements.items() if query in kept}
    return replace(dataset, queries=queries, judgements=judgements)
