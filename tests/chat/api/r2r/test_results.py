"""Passages and citations as R2R has them."""

from typing import Any
from uuid import UUID

from chat.api.r2r import results
from chat.api.r2r.results import Known
from chat.frames import CitationData, Source
from tests.chat.api.r2r import sdk

DOCUMENT = "0190b0a5-7f5e-7c39-8d3f-0000000000ff"
OWNER = UUID(int=7)
COLLECTION = UUID(int=8)


def chunk(number: int) -> str:
    return str(UUID(int=number))


def source(number: int, index: int | None = None, **scores: float) -> Source:
    return Source(
        index=index,
        source_id=chunk(number),
        document_id=DOCUMENT,
        title="The tower",
        page=3,
        heading="Height",
        snippet=f"Passage {number} is cut of",
        scores=scores,
    )


def known(number: int) -> Known:
    return Known(f"Passage {number} is cut off here.", number, OWNER, COLLECTION, {"year": 1931})


def citation(index: int, start: int, end: int) -> CitationData:
    return CitationData(
        index=index,
        source_id=chunk(index),
        document_id=DOCUMENT,
        title="",
        quote="",
        span=(start, end),
    )


def parsed(found: list[dict[str, Any]]) -> Any:
    return sdk.AggregateSearchResult(chunk_search_results=found).chunk_search_results


def test_result_has_what_is_stored_of_its_passage() -> None:
    (found,) = parsed(results.results([source(1, fused=0.5)], {chunk(1): known(1)}))
    assert (str(found.id), str(found.document_id)) == (chunk(1), DOCUMENT)
    assert (found.owner_id, found.collection_ids) == (OWNER, [COLLECTION])
    assert (found.text, found.score) == ("Passage 1 is cut off here.", 0.5)
    assert found.metadata == {
        "year": 1931, "chunk_order": 1, "title": "The tower", "page_number": 3, "heading": "Height",
    }  # fmt: skip


def test_result_of_what_is_gone_has_what_was_found() -> None:
    (found,) = parsed(results.results([source(1)], {}))
    assert (found.owner_id, found.collection_ids) == (None, [])
    assert found.text == "Passage 1 is cut of"


def test_results_are_in_the_order_of_one_score() -> None:
    """Of a stage that all of them went through: scores of different stages do not compare."""
    sources = [
        source(1, reranked=0.9, fused=0.2),
        source(2, reranked=0.8, fused=0.7),
        source(3, fused=0.5),
    ]
    scored = [(each["id"], each["score"]) for each in results.results(sources, {})]
    assert scored == [(chunk(2), 0.7), (chunk(3), 0.5), (chunk(1), 0.2)]
    reranked = [each["score"] for each in results.results(sources[:2], {})]
    assert reranked == [0.9, 0.8]


def test_results_without_a_score_in_common_keep_their_order() -> None:
    found = results.results([source(1, vector=0.1), source(2, fulltext=9.0)], {})
    assert [each["id"] for each in found] == [chunk(1), chunk(2)]
    assert found[0]["score"] > found[1]["score"]


def test_scores_and_metadata_can_be_left_out() -> None:
    (found,) = results.results(
        [source(1, fused=0.5)], {chunk(1): known(1)}, scores=False, metadatas=False
    )
    assert (found["score"], found["metadata"]) == (None, {})
    parsed([found])


def test_only_what_the_answer_could_draw_on_is_its_result() -> None:
    """Unless it could draw on nothing: then it is all that was found."""
    numbered, spare = source(1, index=1), source(2)
    assert results.used([numbered, spare]) == [numbered]
    assert results.used([spare]) == [spare]


def test_citations_have_their_passage_the_first_time() -> None:
    answer = "It is high [1]. It is old [2][1]."
    cited = [citation(1, 11, 14), citation(2, 26, 29), citation(1, 29, 32)]
    payloads = results.by_number(
        [source(1, index=1), source(2, index=2)], results.results([source(1), source(2)], {})
    )
    entries = results.citations(answer, cited, payloads)
    assert [(each["id"], each["is_new"]) for each in entries] == [
        ("1", True), ("2", True), ("1", False),
    ]  # fmt: skip
    for each in entries:
        parsed_entry = sdk.Citation(**each)
        span = each["span"]
        assert answer[span["start_index"] : span["end_index"]] == f"[{each['id']}]"
        assert 0 <= span["context_start"] <= span["start_index"]
        assert span["end_index"] <= span["context_end"] <= len(answer)
        assert (parsed_entry.payload is not None) == each["is_new"]
    assert [each["payload"] and each["payload"]["id"] for each in entries] == [
        chunk(1), chunk(2), None,
    ]  # fmt: skip
