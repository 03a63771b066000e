"""Which sentence of a cited passage supports what the answer says."""

from __future__ import annotations

import math
from collections import Counter

from retrieval.backends.base import Passage, Sentence

# Far enough back to hold the sentence that a marker stands behind.
CLAIM_CHARS = 500


def supporting_sentence(answer: str, passage: Passage) -> Sentence | None:
    """Return the sentence of `passage` nearest to the last sentence of `answer` by shared words.

    Words that few of the passage's sentences have count for more; None if it has no sentence.
    """
    if not passage.sentences:
        return None
    claim = claim_terms(answer, passage)
    spread = Counter(term for sentence in passage.sentences for term in sentence.terms)
    total = len(passage.sentences)

    def support(sentence: Sentence) -> float:
        shared = sum(math.log(1 + total / spread[term]) for term in claim & sentence.terms)
        return shared / math.sqrt(len(sentence.terms) + 4)

    return max(passage.sentences, key=support)


def claim_terms(answer: str, passage: Passage) -> frozenset[str]:
    """Return the terms of the last sentence of `answer` that has any."""
    sentences = passage.analyse(answer[-CLAIM_CHARS:])
    return next((s.terms for s in reversed(sentences) if len(s.terms) > 1), frozenset())
