"""R2R's search settings as ours."""

from typing import Any

import pytest

from chat.api.r2r.search_settings import translated
from retrieval.search import SearchSettings, SearchSettingsError
from tests.chat.api.r2r import sdk


def parsed(mode: object, given: object = None) -> SearchSettings:
    return SearchSettings.parse(translated(mode, given).settings)


@pytest.mark.parametrize(
    ("mode", "given", "semantic", "full_text"),
    [
        ("basic", None, True, False),
        ("advanced", {}, True, True),
        ("custom", {}, True, True),
        (None, {}, True, True),
        ("basic", {"use_fulltext_search": True}, True, True),
        ("basic", {"use_hybrid_search": True}, True, True),
        ("advanced", {"use_hybrid_search": False}, True, False),
        ("custom", {"use_semantic_search": False, "use_fulltext_search": True}, False, True),
        ("custom", {"use_fulltext_search": True, "use_hybrid_search": False}, True, True),
        # Whole objects say everything, whether it was meant or not.
        ("custom", sdk.SearchSettings().model_dump(mode="json"), True, False),
        ("custom", sdk.SearchSettings(use_hybrid_search=True).model_dump(mode="json"), True, True),
    ],
)
def test_modes_say_what_settings_do_not(
    mode: object, given: object, semantic: bool, full_text: bool
) -> None:
    """Settings have the last word, and hybrid is both searches."""
    settings = parsed(mode, given)
    assert (settings.use_semantic_search, settings.use_fulltext_search) == (semantic, full_text)
    assert settings.use_hybrid_search == (semantic and full_text)


def test_all_settings_arrive() -> None:
    given = sdk.SearchSettings(
        use_hybrid_search=True,
        filters={"year": {"$gte": 2020}},
        limit=7,
        offset=3,
        search_strategy="query_fusion",
        num_sub_queries=2,
        hybrid_settings={
            "semantic_weight": 2,
            "full_text_weight": 3,
            "full_text_limit": 9,
            "rrf_k": 8,
        },
        chunk_settings={"index_measure": "l2_distance", "probes": 4, "ef_search": 99},
    )
    settings = parsed("custom", given.model_dump(mode="json"))
    assert (settings.limit, settings.offset, settings.num_sub_queries) == (7, 3, 2)
    assert settings.search_strategy == "rag_fusion"
    assert settings.filters
    assert settings.filters.to_json() == {"metadata.year": {"$gte": 2020}}
    assert settings.hybrid_settings.model_dump() == {
        "fusion": "rrf",
        "semantic_weight": 2,
        "full_text_weight": 3,
        "full_text_limit": 9,
        "rrf_k": 8,
    }
    assert settings.chunk_settings.model_dump() == {
        "index_measure": "l2_distance", "probes": 4, "ef_search": 99,
    }  # fmt: skip


def test_settings_of_ours_arrive() -> None:
    """A program written for this site can say more than R2R knows."""
    settings = parsed("custom", {"rerank": False, "hybrid_settings": {"fusion": "relative_score"}})
    assert (settings.rerank, settings.hybrid_settings.fusion) == (False, "relative_score")


def test_older_name_of_filters_counts_too() -> None:
    settings = parsed("custom", {"filters": {"a": 1}, "search_filters": {"b": 2}})
    assert settings.filters
    assert settings.filters.to_json() == {
        "$and": [{"metadata.a": {"$eq": 1}}, {"metadata.b": {"$eq": 2}}]
    }


def test_scores_and_metadata_are_there_unless_they_are_not_wanted() -> None:
    assert (translated(None, None).scores, translated(None, None).metadatas) == (True, True)
    wanted = translated("basic", {"include_scores": False, "include_metadatas": False})
    assert (wanted.scores, wanted.metadatas) == (False, False)


@pytest.mark.parametrize(
    ("mode", "given", "field"),
    [
        ("quick", {}, "search_mode"),
        ("custom", [], "search_settings"),
        ("custom", {"limit": 0}, "limit"),
        ("custom", {"limit": "ten"}, "limit"),
        ("custom", {"filters": {"year": {"$near": 1}}}, "filters.metadata.year.$near"),
        ("custom", {"filters": {"owner_id": 1}}, "filters.owner_id"),
        ("custom", {"hybrid_settings": {"rrf_k": -1}}, "hybrid_settings.rrf_k"),
        ("custom", {"hybrid_settings": 3}, "hybrid_settings"),
        ("custom", {"chunk_settings": {"index_measure": "miles"}}, "chunk_settings.index_measure"),
        ("custom", {"chunk_settings": {"enabled": False}}, "chunk_settings.enabled"),
        ("custom", {"search_strategy": "magic"}, "search_strategy"),
        ("custom", {"search_strategy": ["query_fusion"]}, "search_strategy"),
        ("custom", {"use_semantic_search": "maybe"}, "use_semantic_search"),
        ("custom", {"lim": 3}, "lim"),
    ],
)  # fmt: skip
def test_wrong_settings_are_named(mode: Any, given: object, field: str) -> None:
    with pytest.raises(SearchSettingsError) as refused:
        parsed(mode, given)
    assert refused.value.field == field
