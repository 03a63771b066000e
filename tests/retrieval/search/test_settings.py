"""What search settings accept, and what they say about what they do not."""

from __future__ import annotations

import pytest

from retrieval.search import SearchSettings, SearchSettingsError


@pytest.mark.parametrize(
    ("given", "uses"),
    [
        ({}, (True, True, True, True)),
        ({"search_mode": "advanced"}, (True, True, True, True)),
        ({"search_mode": "custom"}, (True, True, True, True)),
        ({"search_mode": "basic"}, (True, False, False, False)),
        ({"search_mode": "basic", "use_hybrid_search": True}, (True, True, True, False)),
        ({"search_mode": "basic", "rerank": True}, (True, False, False, True)),
        ({"use_hybrid_search": False}, (True, False, False, True)),
        ({"use_fulltext_search": False}, (True, False, False, True)),
        ({"use_semantic_search": False}, (False, True, False, True)),
    ],
)
def test_mode_says_what_is_not_said(
    given: dict[str, object], uses: tuple[bool, bool, bool, bool]
) -> None:
    """Explicit settings win over the mode; the rest follows from it."""
    settings = SearchSettings.parse(given)
    assert uses == (
        settings.use_semantic_search,
        settings.use_fulltext_search,
        settings.use_hybrid_search,
        settings.rerank,
    )


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"top_kk": 3}, "top_kk"),
        ({"top_k": 0}, "top_k"),
        ({"top_k": "3"}, "top_k"),
        ({"top_k": True}, "top_k"),
        ({"limit": 100_000}, "limit"),
        ({"search_mode": "fast"}, "search_mode"),
        ({"use_semantic_search": "yes"}, "use_semantic_search"),
        ({"hybrid_settings": {"fusion": "sum"}}, "hybrid_settings.fusion"),
        ({"hybrid_settings": {"rrf_k": -1}}, "hybrid_settings.rrf_k"),
        ({"hybrid_settings": {"semantic_weight": float("nan")}}, "hybrid_settings.semantic_weight"),
        ({"hybrid_settings": []}, "hybrid_settings"),
        ({"chunk_settings": {"index_measure": "euclidean"}}, "chunk_settings.index_measure"),
        ({"chunk_settings": {"probes": 0}}, "chunk_settings.probes"),
        ({"offset": 10, "limit": 991}, "offset"),
        ({"offset": -1}, "offset"),
        ({"offset": 50, "top_k": 50}, "top_k"),
        ({"query_syntax": "google"}, "query_syntax"),
        ({"query_syntax": "operators", "use_fulltext_search": False}, "query_syntax"),
        ({"use_semantic_search": False, "use_fulltext_search": False}, "use_semantic_search"),
        ({"use_hybrid_search": True, "use_fulltext_search": False}, "use_hybrid_search"),
        ({"use_hybrid_search": "true"}, "use_hybrid_search"),
        ({"search_strategy": "hyde", "use_semantic_search": False}, "search_strategy"),
        ({"use_hybrid_search": False, "use_fulltext_search": True}, "use_hybrid_search"),
        (
            {"hybrid_settings": {"semantic_weight": 0, "full_text_weight": 0}},
            "hybrid_settings.semantic_weight",
        ),
    ],
)
def test_error_names_the_field(given: dict[str, object], field: str) -> None:
    """Unknown keys, wrong types and values out of range are refused, by dotted name."""
    with pytest.raises(SearchSettingsError) as raised:
        SearchSettings.parse(given)
    assert raised.value.field == field
    assert str(raised.value).startswith(f"{field}: ")


@pytest.mark.parametrize(
    ("given", "top_k", "top_n"),
    [
        ({}, 50, 8),
        ({"limit": 3}, 50, 3),
        ({"limit": 100}, 100, 100),
        ({"offset": 60}, 70, 70),
        ({"limit": 100, "top_n": 5}, 100, 5),
        ({"limit": 100, "top_k": 20}, 20, 100),
    ],
)
def test_as_many_are_looked_for_as_wanted(given: dict[str, object], top_k: int, top_n: int) -> None:
    """A limit that is said is reached, unless what is said beside it is less."""
    settings = SearchSettings.parse(given)
    assert (settings.top_k, settings.top_n) == (top_k, top_n)


@pytest.mark.parametrize("given", [None, [], "advanced", 3])
def test_settings_are_an_object(given: object) -> None:
    """Anything but an object is refused."""
    with pytest.raises(SearchSettingsError):
        SearchSettings.parse(given)


def test_settings_survive_json() -> None:
    """What is dumped can be parsed again."""
    settings = SearchSettings.parse({"search_mode": "basic", "top_k": 7})
    assert SearchSettings.parse(settings.model_dump(mode="json")) == settings
