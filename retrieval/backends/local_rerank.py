"""A reranker without a model: what the search already knows, looked at more closely.

**Order.** That of the search stays. With `reorder`, what the best candidates cover of the question,
and which of its neighbouring terms share a sentence, decides between scores that are close; on the
sets measured that changed nDCG@10 by -0.001 to +0.004, too little to be worth its time.

**Relevance.** A logistic of three signals says how likely a passage is to hold the answer, at
even odds: the cosine similarity of the bundled embedding model; the share of the question's terms
in the sentence that has most of them, rare ones weighing more; and whether numbers of the question
are missing in the passage. The weights were chosen by questions of five sets (English, German,
Chinese), against questions of other sets and ones that are written to look answerable;
docs/benchmarks.md says how well that tells them apart, on questions not learnt from too. At the
threshold 0 to 2 % of answerable questions are refused.

Where question and passage are in different languages, or the question's language is not certain,
words say nothing and cosines are lower; the score is then at least the threshold, since a
wrong refusal is worse than a wrong try.
"""

from __future__ import annotations

import asyncio
import math
import re
import unicodedata
from collections import Counter
from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from retrieval import backends
from retrieval.backends.base import Ranked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval.backends.base import Passage, Query

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

CALIBRATED_FOR = "multilingual-e5-small"
THRESHOLD = 0.12
COSINE, COSINE_ORIGIN = 43.0, 0.85
COVERAGE = 3.2
MISSING_NUMBER = -0.4
BIAS = -1.1

# Passages whose sentences are analysed: about 1.5 ms each.
EXAMINED = 10
# Standard deviations of the fused score that a full match is worth.
COVERAGE_BONUS = 0.5
NEARNESS_BONUS = 0.5


class LocalReranker:
    """Judges how likely each candidate is to hold the answer."""

    def __init__(self, *, reorder: bool = False) -> None:
        """With `reorder`, candidates whose scores are close change places."""
        self.reorder = reorder

    @property
    def answer_threshold(self) -> float:
        """The relevance an answer needs; 0 with an embedding model this is not calibrated for."""
        return THRESHOLD if backends.searched().model == CALIBRATED_FOR else 0.0

    async def rerank(self, query: Query, passages: Sequence[Passage], top_n: int) -> list[Ranked]:
        """Return the best `top_n`, best first."""
        return await asyncio.to_thread(rank, query, passages, top_n, reorder=self.reorder)


def rank(
    query: Query, passages: Sequence[Passage], top_n: int, *, reorder: bool = False
) -> list[Ranked]:
    """Judge passages that come best first by their fused score."""
    examined = passages[: max(top_n, EXAMINED)]
    weights = rarity(query, examined)
    order = (
        closer_look(query, passages, weights, len(examined)) if reorder else range(len(passages))
    )
    return [
        Ranked(position, relevance(query, passages[position], weights))
        for position in order[:top_n]
    ]


def closer_look(
    query: Query, passages: Sequence[Passage], weights: Mapping[str, float], count: int
) -> list[int]:
    """Return the positions of the first `count` passages, best first."""
    bases = standardised([passage.scores.get("fused", 0.0) for passage in passages])
    scores = [
        base
        + COVERAGE_BONUS * share(weights, terms(passage))
        + NEARNESS_BONUS * together(query, passage)
        for base, passage in zip(bases, passages[:count], strict=False)
    ]
    return sorted(range(count), key=lambda position: -scores[position])


def relevance(query: Query, passage: Passage, weights: Mapping[str, float]) -> float:
    """Return how likely the passage holds the answer, 0 to 1."""
    covered = max((share(weights, each.terms) for each in passage.sentences), default=0.0)
    cosine = passage.scores.get("vector", 0.0)
    missing = sum(number not in passage.titled_text for number in NUMBER.findall(query.text))
    logit = COSINE * (cosine - COSINE_ORIGIN) + COVERAGE * covered + MISSING_NUMBER * missing + BIAS
    score = 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))
    return score if comparable(query, passage) else max(score, THRESHOLD)


def rarity(query: Query, passages: Sequence[Passage]) -> dict[str, float]:
    """Return the weights of the question's terms: those that few of the passages hold tell more."""
    found = [terms(passage) for passage in passages]
    return {
        term: math.log1p(len(found) / (sum(term in each for each in found) or 0.5))
        for term in query.terms
    }


def share(weights: Mapping[str, float], found: frozenset[str]) -> float:
    """Return the share of the weight of all terms that those found have, 0 to 1."""
    total = sum(weights.values())
    return sum(weights[term] for term in weights if term in found) / total if total else 0.0


def together(query: Query, passage: Passage) -> float:
    """Return the share of neighbouring terms of the question that share a sentence."""
    pairs = set(pairwise(query.terms))
    found = {
        pair for sentence in passage.sentences for pair in pairs if sentence.terms.issuperset(pair)
    }
    return len(found) / len(pairs) if pairs else 0.0


def terms(passage: Passage) -> frozenset[str]:
    """Return the terms of all sentences."""
    return frozenset().union(*(sentence.terms for sentence in passage.sentences))


def comparable(query: Query, passage: Passage) -> bool:
    """Whether question and passage are certainly in one language."""
    if not query.terms:  # nothing is asked for, in any language
        return True
    if query.language and passage.language:
        return query.language == passage.language
    # Scripts other than Latin tell enough.
    return script(query.text) == script(passage.text) != "LATIN"


def script(text: str) -> str:
    """Return the script most letters of the beginning are in, as Unicode names it."""
    letters = [letter for letter in text[:200] if letter.isalpha()]
    counts = Counter(unicodedata.name(letter, "?").split()[0] for letter in letters)
    return counts.most_common(1)[0][0] if counts else ""


def standardised(scores: Sequence[float]) -> list[float]:
    """Return by how many standard deviations each score is above the mean."""
    deviation = pstdev(scores) if scores else 0.0
    if deviation < 1e-9:
        return [0.0] * len(scores)
    mean = fmean(scores)
    return [(score - mean) / deviation for score in scores]
