"""What filters accept, and what they say about what they do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.search import SearchSettings, SearchSettingsError
from retrieval.search.filter_values import FilterError
from retrieval.search.filters import parse

KEY = "metadata.year"


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        ({"language": "de"}, {"language": {"$eq": "de"}}),
        ({KEY: 2020}, {KEY: {"$eq": 2020}}),
        ({KEY: [1, 2]}, {KEY: {"$eq": [1, 2]}}),
        ({KEY: {"$gt": 1, "$lt": 3}}, {"$and": [{KEY: {"$gt": 1}}, {KEY: {"$lt": 3}}]}),
        ({"document_id": {"$in": []}}, {"id": {"$in": []}}),
        (
            {"created_at": {"$gte": "2024-05-01T12:00:00+02:00"}},
            {"created_at": {"$gte": "2024-05-01T10:00:00Z"}},
        ),
        (
            {"$or": [{"name": {"$like": "a%"}}, {"metadata.a.b": {"$neq": None}}]},
            {"$or": [{"name": {"$like": "a%"}}, {"metadata.a.b": {"$neq": None}}]},
        ),
    ],
)
def test_filter_has_one_whole_form(data: dict[str, Any], whole: dict[str, Any]) -> None:
    """What may be left out is filled in, and the whole form is a filter again."""
    parsed = parse(data)
    assert parsed.to_json() == whole
    assert parse(whole) == parsed


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ("language", "filters"),
        ([], "filters"),
        ({"$and": []}, "filters.$and"),
        ({"$and": {"language": "en"}}, "filters.$and"),
        ({"$not": []}, "filters.$not"),
        ({"$or": [{"language": "en"}, {}]}, "filters.$or.1"),
        ({"$and": [{KEY: {"$gte": True}}]}, f"filters.$and.0.{KEY}.$gte"),
        ({"colour": "red"}, "filters.colour"),
        ({"metadata": {"year": 1}}, "filters.metadata"),
        ({"metadata.": 1}, "filters.metadata."),
        ({"metadata.a..b": 1}, "filters.metadata.a..b"),
        ({"metadata.a\0": 1}, "filters"),
        ({KEY: {}}, f"filters.{KEY}"),
        ({KEY: {"eq": 1}}, f"filters.{KEY}.eq"),
        ({KEY: {"$gt": None}}, f"filters.{KEY}.$gt"),
        ({KEY: {"$eq": {"a": 1}}}, f"filters.{KEY}.$eq"),
        ({KEY: {"$in": 1}}, f"filters.{KEY}.$in"),
        ({KEY: {"$in": [1, [2]]}}, f"filters.{KEY}.$in.1"),
        ({KEY: {"$in": [None]}}, f"filters.{KEY}.$in"),
        ({KEY: {"$in": [0] * 1001}}, f"filters.{KEY}.$in"),
        ({KEY: {"$lt": float("inf")}}, f"filters.{KEY}.$lt"),
        ({KEY: 10**40}, f"filters.{KEY}.$eq"),
        ({KEY: "a\0"}, f"filters.{KEY}.$eq"),
        ({KEY: "\ud800"}, f"filters.{KEY}.$eq"),
        ({KEY: "a" * 1001}, f"filters.{KEY}.$eq"),
        ({KEY: {"$like": 3}}, f"filters.{KEY}.$like"),
        ({KEY: {"$like": "a\\"}}, f"filters.{KEY}.$like"),
        ({"size": {"$like": "1%"}}, "filters.size.$like"),
        ({"size": "large"}, "filters.size.$eq"),
        ({"size": True}, "filters.size.$eq"),
        ({"language": 3}, "filters.language.$eq"),
        ({"language": ["en"]}, "filters.language.$eq"),
        ({"id": "1"}, "filters.id.$eq"),
        ({"id": {"$gt": "0192f0c0-0000-7000-8000-000000000000"}}, "filters.id.$gt"),
        ({"created_at": "yesterday"}, "filters.created_at.$eq"),
        ({"created_at": "2024-02-30"}, "filters.created_at.$eq"),
        ({"$or": [{KEY: each} for each in range(101)]}, "filters.$or"),
        ({"$or": [{"$or": [{KEY: 1}] * 60}] * 2}, "filters"),
    ],
)
def test_error_names_the_field(data: Any, field: str) -> None:
    """What is no filter is refused, by the dotted way to it."""
    with pytest.raises(SearchSettingsError) as raised:
        SearchSettings.parse({"filters": data})
    assert raised.value.field == field
    assert raised.value.message


def test_depth_is_bounded() -> None:
    """A filter within a thousand filters is refused before it fills the stack."""
    data: dict[str, Any] = {KEY: 1}
    for _ in range(500):
        data = {"$and": [data]}
    with pytest.raises(FilterError, match="nested deeper"):
        parse(data)


def test_settings_with_filters_are_a_key() -> None:
    """Settings with the same filter are the same key; 1 is another filter than true."""
    one, same, other = (
        SearchSettings.parse({"filters": {"metadata.a": value}}) for value in (1, 1, True)
    )
    assert (one, hash(one)) == (same, hash(same))
    assert one != other
    assert SearchSettings.parse(json.loads(one.model_dump_json())) == one


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_filter(nothing: object) -> None:
    """An empty filter is none."""
    assert SearchSettings.parse({"filters": nothing}).filters is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text() | st.sampled_from(["$and", KEY]), each),
)


@given(JSON)
def test_any_json_is_a_filter_or_an_error(data: object) -> None:
    """Nothing but FilterError is raised."""
    try:
        parsed = parse(data)
    except FilterError:
        return
    assert parse(parsed.to_json()) == parsed
