"""Neighbouring chunks become one passage."""

from dataclasses import replace
from uuid import uuid4

from retrieval.search.hits import Hit
from retrieval.search.neighbours import LONGEST, merge
from tests.retrieval.search.conftest import make_chunk, make_hit

VERSION = uuid4()
TEXT = "One is here. Two comes next. Three is last."


def chunk(ordinal: int, start: int, end: int, headings: tuple[str, ...] = ()) -> Hit:
    return replace(
        make_chunk(VERSION, ordinal, start, TEXT[start:end]), heading_path=headings, page=ordinal
    )


def test_neighbours_are_one_passage_in_the_order_of_the_document() -> None:
    """It stands where the better one stood, and begins on the page of the first."""
    other = make_hit("Elsewhere.")
    better = chunk(2, 13, 28)
    (first, second) = merge([better, other, chunk(1, 0, 13)])
    assert (first.id, first.text, first.page) == (better.id, TEXT[:28], 1)
    assert second is other


def test_what_chunks_share_is_said_once() -> None:
    (merged,) = merge([chunk(1, 0, 20), chunk(2, 13, 43)])
    assert merged.text == TEXT


def test_space_between_chunks_is_kept() -> None:
    (merged,) = merge([chunk(1, 0, 12), chunk(2, 13, 28)])
    assert merged.text == "One is here.\nTwo comes next."


def test_what_is_not_adjacent_stays_apart() -> None:
    """Nor are equal ordinals of two versions neighbours."""
    stranger = make_chunk(uuid4(), 2, 13, TEXT[13:28])
    hits = [chunk(1, 0, 13), stranger, chunk(3, 28, 43)]
    assert merge(hits) == hits


def test_a_passage_knows_which_chunk_holds_a_place_of_its_text() -> None:
    one, two = chunk(1, 0, 13), chunk(2, 13, 43)
    (merged,) = merge([one, two])
    assert [merged.part_at(offset) for offset in (0, 12, 13, 42)] == [one, one, two, two]
    assert merged.chunks == [one, two]


def test_only_the_headings_of_all_parts_are_those_of_the_passage() -> None:
    (merged,) = merge([chunk(1, 0, 13, ("Guide", "Start")), chunk(2, 13, 28, ("Guide", "End"))])
    assert merged.heading_path == ("Guide",)


def test_a_passage_does_not_grow_for_ever() -> None:
    """What is left over of a long run is a passage of its own."""
    hits = [make_chunk(VERSION, n, 2 * n, f"{n} ") for n in range(LONGEST + 2)]
    assert [len(hit.parts) for hit in merge(hits)] == [LONGEST, 2]


def test_a_passage_knows_where_a_part_of_its_text_stands_in_the_document() -> None:
    (merged,) = merge([chunk(1, 0, 12), chunk(2, 13, 43)])
    start = merged.text.index("here.")
    end = merged.text.index(" comes")
    found = merged.place_of(start, end)
    assert found is not None
    assert TEXT[slice(*found)] == "here. Two"
    assert chunk(2, 13, 28).place_of(0, 3) == (13, 16)
    assert make_hit("Elsewhere.").place_of(0, 3) is None
