"""What is searched for: questions with rare and with common words, and what is truly nearest."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

WORD = re.compile(r"[a-z]{4,}")
NEAREST = 10
RARE_WORDS = 3
COMMON_WORDS = 3
# A rare word is in at most so many of a thousand passages, a common one in 2 to 5 of a hundred.
RARE = 0.002
COMMON = (0.02, 0.05)


@dataclass(frozen=True)
class Question:
    """A text to search for, its vector, and the passages nearest to that by comparing all.

    `shard` names the part that a filter keeps; `nearest_in_shard` are the nearest in it.
    """

    text: str
    literal: str
    shard: int
    nearest: list[int]
    nearest_in_shard: list[int]

    @property
    def words(self) -> str:
        """The words as PostgreSQL's web search reads them: any of them."""
        return " or ".join(self.text.split())


@dataclass(frozen=True)
class Times:
    """Seconds that questions took, and that all of them took together."""

    each: list[float]
    together: float | None = None

    def summary(self) -> dict[str, float]:
        """Return p50 and p95 in milliseconds, and questions a second."""
        p50, p95 = np.percentile(np.array(self.each) * 1000, (50, 95))
        rate = len(self.each) / (self.together or sum(self.each))
        return {"p50": round(float(p50), 2), "p95": round(float(p95), 2), "qps": round(rate, 1)}


def texts(passages: list[str], questions: list[str], count: int) -> tuple[list[str], list[str]]:
    """Return `count` texts of the rare words of people's questions, and the same with common ones.

    Exits if the questions hold too few words that are in the passages.
    """
    held = Counter(word for text in passages for word in set(WORD.findall(text.lower())))
    most = RARE * len(passages)
    low, high = (share * len(passages) for share in COMMON)
    common = sorted(word for word, number in held.items() if low <= number <= high)
    chance = random.Random(4)
    rare: list[str] = []
    for question in questions:
        words = [w for w in dict.fromkeys(WORD.findall(question.lower())) if 0 < held[w] <= most]
        if words:
            rare.append(" ".join(words[:RARE_WORDS]))
        if len(rare) == count:
            break
    mixed = [f"{text} {' '.join(chance.sample(common, COMMON_WORDS))}" for text in rare]
    return rare, mixed


def questions(
    asked: list[str],
    vectors: np.ndarray[Any, Any],
    passages: np.ndarray[Any, Any],
    shards: list[int],
) -> list[Question]:
    """Return the questions with what is nearest to each; vectors have length 1."""
    number_of = np.array(shards)
    found = []
    for position, (text, vector) in enumerate(zip(asked, vectors, strict=True)):
        similar = passages @ vector
        shard = position % (max(shards) + 1)
        inside = np.flatnonzero(number_of == shard)
        found.append(
            Question(
                text,
                str(vector.tolist()),
                shard,
                np.argsort(-similar)[:NEAREST].tolist(),
                inside[np.argsort(-similar[inside])[:NEAREST]].tolist(),
            )
        )
    return found


def recall(found: list[list[int]], wanted: list[list[int]]) -> float:
    """Return the share of what is nearest that was found."""
    hits = sum(len(set(ours) & set(all_)) for ours, all_ in zip(found, wanted, strict=True))
    return hits / sum(map(len, wanted))
