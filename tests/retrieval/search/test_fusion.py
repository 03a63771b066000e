"""Fusion, as pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.search.fusion import foreign_languages, relative_score, rrf, standardise

Scores = dict[int, float]
Fusion = Callable[[Scores, Scores], Scores]
scores = st.dictionaries(st.integers(0, 30), st.floats(-100, 100, width=32), max_size=20)
some_scores = st.dictionaries(
    st.integers(0, 30), st.floats(-100, 100, width=32), min_size=1, max_size=20
)
every_fusion = pytest.mark.parametrize("fuse", [relative_score, rrf])


def ranking(found: Scores) -> list[float]:
    return sorted(found.values(), reverse=True)


@every_fusion
@given(semantic=scores, full_text=scores)
def test_everything_found_is_fused_once_and_best_first(
    fuse: Fusion, semantic: Scores, full_text: Scores
) -> None:
    """The result holds exactly what either search found, in falling order of finite scores."""
    fused = fuse(semantic, full_text)
    assert fused.keys() == semantic.keys() | full_text.keys()
    assert list(fused.values()) == ranking(fused)
    assert all(math.isfinite(score) for score in fused.values())


@every_fusion
@given(semantic=some_scores)
def test_an_empty_full_text_leaves_the_semantic_order(fuse: Fusion, semantic: Scores) -> None:
    """Where full text matches nothing, it changes nothing."""
    order = [semantic[id_] for id_ in fuse(semantic, {})]
    assert order == pytest.approx(ranking(semantic), abs=1e-6)


@every_fusion
@given(semantic=some_scores, full_text=some_scores)
def test_best_of_both_stays_best(fuse: Fusion, semantic: Scores, full_text: Scores) -> None:
    """What is first in both searches is first."""
    top = 99
    fused = fuse({**semantic, top: 101.0}, {**full_text, top: 101.0})
    assert next(iter(fused)) == top


whole_scores = st.dictionaries(st.integers(0, 30), st.integers(0, 50), min_size=1, max_size=20)


@given(semantic=whole_scores, full_text=whole_scores, factor=st.floats(0.1, 10))
def test_unit_of_the_scores_does_not_matter(
    semantic: Scores, full_text: Scores, factor: float
) -> None:
    """BM25 in another unit gives the same fused scores."""
    scaled = {id_: factor * score for id_, score in full_text.items()}
    assert relative_score(semantic, scaled) == pytest.approx(
        relative_score(semantic, full_text), abs=1e-6
    )


def test_relative_score_is_the_weighted_sum_of_standard_scores() -> None:
    """z is +1 and -1 for two scores; what full text did not find scores 0 there."""
    assert relative_score({"a": 0.9, "b": 0.5}, {"b": 3.0}, 1.0, 0.5) == pytest.approx(
        {"a": 0.5, "b": -0.5}
    )


def test_relative_score_lets_a_clear_match_win() -> None:
    """A chunk only slightly less near, but alone in holding the words, comes first."""
    semantic = {"a": 0.851, "b": 0.850, "c": 0.70, "d": 0.69}
    assert next(iter(relative_score(semantic, {"b": 12.0}))) == "b"


def test_rrf_sums_weighted_reciprocal_ranks() -> None:
    """Weight / (k + rank), summed over both searches."""
    fused = rrf({"a": 0.9, "b": 0.8}, {"b": 7.0}, 1.0, 0.5, k=10)
    assert fused == pytest.approx({"b": 1 / 12 + 0.5 / 11, "a": 1 / 11})


@given(found=some_scores)
def test_standard_scores_have_mean_zero_and_deviation_one(found: Scores) -> None:
    """Or are all 0 where there is no difference."""
    z = list(standardise(found).values())
    assert sum(z) == pytest.approx(0, abs=1e-6)
    deviation = math.sqrt(sum(score * score for score in z) / len(z))
    assert deviation == pytest.approx(1, abs=1e-6) or not any(z)


def test_words_have_no_say_about_documents_in_another_language() -> None:
    """A translation cannot share the question's words: it stands where its meaning puts it."""
    semantic = {"own": 0.8, "other": 0.74, "translation": 0.75}
    full_text = {"own": 9.0, "other": 5.0}
    languages = {"own": "en", "other": "en", "translation": "de"}
    assert list(relative_score(semantic, full_text)) == ["own", "other", "translation"]
    fused = relative_score(semantic, full_text, languages=languages)
    assert list(fused) == ["own", "translation", "other"]


def test_a_name_that_every_language_has_makes_none_the_questions_own() -> None:
    full_text = {"own": 9.0, "translation": 1.0, "unknown": 0.0}
    languages = {"own": "en", "translation": "de", "unknown": ""}
    assert foreign_languages(full_text, languages) == {"de"}
