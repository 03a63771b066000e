"""Choosing what goes into the prompt, and telling when the documents hold no answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.conf import settings

from retrieval import backends
from retrieval.search.hits import Hit
from retrieval.text.terms import units

# Windows of one text that share all but this part of their words are the same passage.
SHIFT = 0.1


def build_context(
    hits: Iterable[Hit], budget_tokens: int, count_tokens: Callable[[str], int]
) -> list[Hit]:
    """Return the hits that go into the prompt, in order; the first is passage number 1.

    What says the same as a better hit is dropped, and what does not fit into `budget_tokens`
    beside better hits; the best hit is kept in any case.
    """
    chosen: list[Hit] = []
    texts: list[list[str]] = []
    left = budget_tokens
    for hit in hits:
        text = units(hit.chunk.text)
        tokens = count_tokens(f"{hit.document.title}\n{hit.heading}\n{hit.chunk.text}")
        if (chosen and tokens > left) or any(same(text, other) for other in texts):
            continue
        left -= tokens
        chosen.append(hit)
        texts.append(text)
    return chosen


def same(first: list[str], second: list[str]) -> bool:
    """Return whether two texts (as words, see `units`) say the same.

    One is part of the other, or both are windows of one text, slightly shifted. Texts that
    differ in a single word, a number say, may contradict each other and are not the same.
    """
    short, long = sorted((first, second), key=len)
    if f" {' '.join(short)} " in f" {' '.join(long)} ":
        return True
    shifts = range(1, int(len(short) * SHIFT) + 1)
    # One word first: most passages differ there already, and slices are copies.
    return any(
        a[shift] == b[0] and a[shift:] == b[: len(a) - shift]
        for a, b in ((first, second), (second, first))
        for shift in shifts
    )


def holds_answer(hits: Iterable[Hit]) -> bool:
    """Return whether what was found is relevant enough to answer from.

    That is ANSWER_THRESHOLD, or the reranker's own threshold when it is not set, for the best
    hit's relevance; at a threshold of 0, and for hits that were not reranked, any hit will do.
    """
    scores = [hit.scores.get("reranked") for hit in hits]
    relevance = [score for score in scores if score is not None]
    return bool(scores) and (not relevance or max(relevance) >= _threshold())


def _threshold() -> float:
    if settings.ANSWER_THRESHOLD is not None:
        return float(settings.ANSWER_THRESHOLD)
    reranker = backends.reranker()
    return reranker.answer_threshold if reranker else 0.0
