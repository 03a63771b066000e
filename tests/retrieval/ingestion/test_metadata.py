"""What files and people say of documents."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval.ingestion.metadata import MetadataError, checked, from_pairs, of_file_itself
from retrieval.ingestion.reading import Extracted


def extracted(**said: Any) -> Extracted:
    return Extracted(
        text="x", page_starts=[0, 3], media_type="application/pdf", language="deu", title="T",
        metadata=said,
    )  # fmt: skip


def test_file_has_stable_names() -> None:
    """What the parser calls differently is named as the documentation says."""
    said = of_file_itself(
        extracted(authors=["Ann", " "], created_at="2024-05-01T12:00:00+02:00", modified_at="?")
    )
    assert said == {
        "title": "T",
        "author": ["Ann"],
        "date": "2024-05-01T10:00:00Z",
        "language": "de",
        "type": "application/pdf",
        "page_count": 2,
    }


def test_pairs_are_typed() -> None:
    """What JSON takes for a value is one, anything else is text; times get one form."""
    pairs = ["year=2020", 'no="2020"', "draft=true", "tags=[1,2]", "who= Ann = Bob ", "a={",
             "on=2024-05-01T12:00+02:00"]  # fmt: skip
    assert from_pairs(pairs) == {
        "year": 2020,
        "no": "2020",
        "draft": True,
        "tags": [1, 2],
        "who": "Ann = Bob",
        "a": "{",
        "on": "2024-05-01T10:00:00Z",
    }


@pytest.mark.parametrize("pair", ["year", "=3", "a.b=1", "a\0=1", "x" * 101 + "=1", "a=b\0"])
def test_bad_pair_is_refused(pair: str) -> None:
    """A pair without a key that a filter can name is refused."""
    with pytest.raises(MetadataError):
        from_pairs([pair])


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1


@pytest.mark.parametrize(
    "data", [[], "a", {"a": {"b.c": 1}}, {"a": [float("nan")]}, {"a": "x" * 20_001}, nested(11)]
)
def test_bad_metadata_is_refused(data: object) -> None:
    """What is no object, too much, too deep, or not to be stored is refused."""
    with pytest.raises(MetadataError):
        checked(data)


def test_metadata_may_be_nested() -> None:
    """Objects and lists are kept as they are."""
    data = nested(9) | {"list": [1, {"x": None}], "flag": False}
    assert checked(data) == data
