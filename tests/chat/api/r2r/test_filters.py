"""R2R's filters as ours."""

from typing import Any

import pytest

from chat.api.r2r.filters import translated
from retrieval.search import filters
from retrieval.search.filter_values import FilterError

ID = "0190b0a5-7f5e-7c39-8d3f-000000000001"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"year": 2020}, {"metadata.year": 2020}),
        ({"metadata.year": {"$gte": 2020, "$lt": 2024}},) * 2,
        ({"kind": {"$ne": "memo"}}, {"metadata.kind": {"$neq": "memo"}}),
        ({"document_id": {"$eq": ID}},) * 2,
        ({"collection_ids": {"$overlap": [ID]}}, {"collection_ids": {"$in": [ID]}}),
        ({"tags": {"$contains": ["a"]}}, {"metadata.tags": {"$eq": "a"}}),
        (
            {"tags": {"$contains": ["a", "b"]}},
            {"$and": [{"metadata.tags": {"$eq": "a"}}, {"metadata.tags": {"$eq": "b"}}]},
        ),
        (
            {"$or": [{"year": 2020}, {"$and": {"year": 2021, "title": "Ducks"}}]},
            {
                "$or": [
                    {"metadata.year": 2020},
                    {"$and": [{"metadata.year": 2021}, {"title": "Ducks"}]},
                ]
            },
        ),
        (
            {"year": {"$gt": 1}, "metadata.year": {"$lt": 9}},
            {"$and": [{"metadata.year": {"$gt": 1}}, {"metadata.year": {"$lt": 9}}]},
        ),
    ],
)  # fmt: skip
def test_filters_are_translated(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Each is one that a search can do."""
    assert translated(theirs) == ours
    filters.parse(translated(theirs))


@pytest.mark.parametrize(
    "theirs",
    [
        {"year": {"$near": 2020}},
        {"$not": [{"year": 2020}]},
        {"year": {}},
        {"$and": {}},
        {"$and": 3},
        {"tags": {"$contains": [{"a": 1}]}},
        {"owner_id": {"$eq": ID}},
        ["year"],
    ],
)
def test_what_is_no_filter_is_refused(theirs: object) -> None:
    """Nothing is passed over: less would be filtered than was asked for."""
    with pytest.raises(FilterError):
        filters.parse(translated(theirs))


def test_filters_are_not_followed_without_end() -> None:
    """What is nested too deeply is refused as such."""
    nested: dict[str, Any] = {"year": 1}
    for _ in range(500):
        nested = {"$and": [nested]}
    with pytest.raises(FilterError, match="deeper"):
        filters.parse(translated(nested))
