"""What is said of a passage that was found."""

import math
from uuid import uuid4

from chat.answering.finding import SNIPPET_CHARS, source_of
from retrieval.search import Hit


def hit(text: str = "", **scores: float) -> Hit:
    return Hit(uuid4(), text, (), None, "en", uuid4(), "The tower", scores)


def test_no_score_is_a_negative_zero() -> None:
    """A frame that was sent and the same one read from PostgreSQL are equal to the letter."""
    scores = source_of(hit(fused=-0.00001, vector=-0.5), 1).scores
    assert scores == {"fused": 0.0, "vector": -0.5}
    assert math.copysign(1, scores["fused"]) == 1


def test_a_long_passage_is_shown_by_its_beginning() -> None:
    assert source_of(hit("x" * 1000), None).snippet == "x" * SNIPPET_CHARS
