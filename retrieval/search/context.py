"""Choosing what goes into the prompt, and telling when the documents hold no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from retrieval import backends
from retrieval.search.hits import REMEMBERED, Hit
from retrieval.search.neighbours import merge
from retrieval.text.terms import units

# Windows of one text that share all but this part of their words are the same passage.
SHIFT = 0.1
# What a passage counts for beside one more of the same document.
DECAY = 0.9


def build_context(
    hits: Iterable[Hit], budget_tokens: int, count_tokens: Callable[[str], int]
) -> list[Hit]:
    """Return the passages that go into the prompt, best first; the first is number 1.

    What says the same as a better hit is a repeat of that one. What does not fit into
    `budget_tokens` beside better hits is left out; the best hit is kept in any case. Neighbours
    are merged.
    """
    chosen: list[Hit] = []
    texts: list[Words] = []
    left = budget_tokens
    for hit in hits:
        text = words_of(hit.text)
        known = next((n for n, other in enumerate(texts) if same(text, other)), None)
        if known is not None:
            chosen[known] = replace(chosen[known], repeats=(*chosen[known].repeats, hit))
            continue
        tokens = count_tokens(f"{hit.title}\n{hit.heading}\n{hit.text}")
        if chosen and tokens > left:
            continue
        left -= tokens
        chosen.append(hit)
        texts.append(text)
    return merge(chosen)


def diversify(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Return `limit` of the hits, in their order, from several documents where that costs little.

    Each further passage of a document counts for a tenth less than the one before it: a document
    fills everything only if its passages are that much more relevant. Hits that were not reranked
    have no relevance to compare; then these are the first ones.
    """
    if any("reranked" not in hit.scores for hit in hits):
        return list(hits[:limit])
    left = list(hits)
    chosen: set[UUID] = set()
    passages: Counter[UUID] = Counter()
    while left and len(chosen) < limit:
        best = max(
            left, key=lambda hit: hit.scores["reranked"] * DECAY ** passages[hit.document_id]
        )
        left.remove(best)
        chosen.add(best.id)
        passages[best.document_id] += 1
    return [hit for hit in hits if hit.id in chosen]


class Words(NamedTuple):
    """The words of a text (see `units`), and the same joined, to look for one in another."""

    units: list[str]
    joined: str


@lru_cache(maxsize=REMEMBERED)
def words_of(text: str) -> Words:
    """Return the words of a passage."""
    found = units(text)
    return Words(found, f" {' '.join(found)} ")


def same(first: Words, second: Words) -> bool:
    """Return whether two texts say the same.

    One is part of the other, or both are windows of one text, slightly shifted. Texts that
    differ in a single word, a number say, may contradict each other and are not the same.
    """
    if first.joined in second.joined or second.joined in first.joined:
        return True
    shifts = range(1, int(min(len(first.units), len(second.units)) * SHIFT) + 1)
    # One word first: most passages differ there already, and slices are copies.
    return any(
        a[shift] == b[0] and a[shift:] == b[: len(a) - shift]
        for a, b in ((first.units, second.units), (second.units, first.units))
        for shift in shifts
    )


def answerable(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that an answer may be built from; none if nothing found is relevant enough.

    That is decided by the best hit's relevance, and ANSWER_THRESHOLD, or the reranker's own
    threshold when it is not set; at a threshold of 0, and for hits that were not reranked, any hit
    will do. One that cannot be judged has the threshold itself for its relevance: where no other
    reaches it, those that were judged are left out.
    """
    relevance = [hit.scores["reranked"] for hit in hits if "reranked" in hit.scores]
    threshold = _threshold()
    if not relevance or not threshold or max(relevance) > threshold:
        return list(hits)
    return [hit for hit in hits if hit.scores.get("reranked", 0.0) >= threshold]


def holds_answer(hits: Sequence[Hit]) -> bool:
    """Return whether what was found is relevant enough to answer from."""
    return bool(answerable(hits))


def _threshold() -> float:
    if settings.ANSWER_THRESHOLD is not None:
        return float(settings.ANSWER_THRESHOLD)
    reranker = backends.reranker()
    return reranker.answer_threshold if reranker else 0.0
