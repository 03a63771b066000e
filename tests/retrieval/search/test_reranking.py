"""Reranking hits with whatever reranker is configured."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pytest_django import Settings

from retrieval.backends.base import BackendError, Passage, Query, Ranked
from retrieval.search import SearchSettings, analyse, passage, rerank, window
from tests.retrieval.search.conftest import make_hit

HITS = [
    make_hit(text, fused=score)
    for text, score in (("short", 3.0), ("quite a bit longer", 2.0), ("a longer one", 1.0))
]


class LongestFirst:
    answer_threshold = 0.0

    async def rerank(self, query: Query, passages: Sequence[Passage], top_n: int) -> list[Ranked]:
        order = sorted(range(len(passages)), key=lambda i: -len(passages[i].text))
        return [Ranked(i, len(passages[i].text) / 100) for i in order[:top_n]]


class Failing(LongestFirst):
    async def rerank(self, query: Query, passages: Sequence[Passage], top_n: int) -> list[Ranked]:
        raise BackendError("The reranker cannot be reached.", True)


def use(settings: Settings, name: str | None) -> None:
    path = name and f"tests.retrieval.search.test_reranking.{name}"
    settings.RAG_BACKENDS = {**settings.RAG_BACKENDS, "reranker": {"BACKEND": path}}


async def order(**given: object) -> list[str]:
    hits = await rerank(analyse("long"), HITS, SearchSettings.parse(given))
    return [hit.text for hit in hits]


async def test_reranker_decides_the_order(settings: Settings) -> None:
    """The hits come back in its order, each with its relevance beside the earlier scores."""
    use(settings, "LongestFirst")
    hits = await rerank(analyse("long"), HITS, SearchSettings())
    assert [(hit.text, hit.scores) for hit in hits] == [
        ("quite a bit longer", {"fused": 2.0, "reranked": 0.18}),
        ("a longer one", {"fused": 1.0, "reranked": 0.12}),
        ("short", {"fused": 3.0, "reranked": 0.05}),
    ]


@pytest.mark.parametrize("given", [{"top_n": 1}, {"limit": 1}])
async def test_top_n_and_limit_cut(given: dict[str, int], settings: Settings) -> None:
    """The smaller of the two holds."""
    use(settings, "LongestFirst")
    assert await order(**given) == ["quite a bit longer"]


async def test_order_stays_without_a_reranker(settings: Settings) -> None:
    """No reranker, or reranking turned off: the fused order, cut in the same way."""
    use(settings, None)
    assert await order(top_n=2) == ["short", "quite a bit longer"]
    use(settings, "LongestFirst")
    assert await order(rerank=False, limit=1) == ["short"]


@pytest.mark.parametrize(
    ("given", "spare", "kept"),
    [
        ({"top_n": 2}, 0, slice(0, 2)),
        ({"offset": 3, "limit": 1}, 0, slice(3, 4)),
        ({"offset": 3, "limit": 1}, 4, slice(3, 8)),
    ],
)
def test_window_is_what_is_asked_for_and_some_to_spare(
    given: dict[str, int], spare: int, kept: slice
) -> None:
    assert window(SearchSettings.parse(given), spare) == kept


async def test_failure_passes_through(settings: Settings) -> None:
    """Who asked decides what a failing reranker means."""
    use(settings, "Failing")
    with pytest.raises(BackendError):
        await order()


def test_passages_know_their_sentences() -> None:
    """Sentences are split in the language of the document's version."""

    sentences = passage(HITS[1], 1).sentences
    assert [sentence.text for sentence in sentences] == ["quite a bit longer"]
    assert "longer" in sentences[0].terms
