"""Whether the search knows when the documents hold no answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrieval import search
from retrieval.evaluation import measures, stages
from retrieval.evaluation.datasets import Dataset, SetQuery


async def relevance(text: str) -> tuple[float, bool]:
    """Return how surely what is found answers a question, and whether it would be answered."""
    ranked, _ = await stages.ask(text)
    signal = max((hit.scores.get("reranked", 0.0) for hit in ranked), default=0.0)
    return signal, search.holds_answer(ranked)


async def tell_apart(
    dataset: Dataset, others: Sequence[tuple[str, Sequence[SetQuery]]]
) -> list[dict[str, Any]]:
    """Return for each other kind of question how well it is told from those the set answers.

    `auroc` is of the search's relevance; `answered` is the share of the set's own questions that
    would be answered, `refused` that of the others that would not.
    """
    own = [await relevance(query.text) for query in dataset.judged]
    results = []
    for name, queries in others:
        other = [await relevance(query.text) for query in queries]
        auroc = measures.auroc([signal for signal, _ in own], [signal for signal, _ in other])
        results.append(
            {
                "questions": name,
                "count": len(other),
                "auroc": round(auroc, 4),
                "answered": round(sum(held for _, held in own) / len(own), 4),
                "refused": round(sum(not held for _, held in other) / len(other), 4),
            }
        )
    return results
