"""Passages: exact, small enough, and knowing where they stand."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.ingestion import chunking
from retrieval.ingestion.chunking import Passage, embedded_text, find_headings, pages, passages


def count(text: str) -> int:
    """Count as a tokenizer might: four characters a token."""
    return len(text) // 4 + 1


def cut(text: str, page_starts: list[int] | None = None) -> list[Passage]:
    return list(passages(text, page_starts or [], count_tokens=count))


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=4000))
def test_offsets_are_exact(text: str) -> None:
    """Whatever the text, a passage is what stands at its offsets, in order, without overlap."""
    found = cut(text)
    assert all(text[p.start : p.end] == p.text for p in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_nothing_is_lost() -> None:
    """Every word of a long text is in some passage."""
    words = [f"word{number}" for number in range(20_000)]
    text = " ".join(words)
    assert " ".join(p.text for p in cut(text)).split() == words


def test_passages_fit() -> None:
    """No passage has more tokens than it may, even of one endless word."""
    for text in ("x" * 50_000, "Some words. " * 5000):
        assert all(count(p.text) <= chunking.MAX_TOKENS for p in cut(text))


def test_small_windows_get_smaller_passages() -> None:
    """A model that reads little gets little."""
    found = passages("Some words. " * 500, [], count_tokens=count, window=256)
    assert all(count(p.text) <= 256 - chunking.CONTEXT_TOKENS for p in found)


def test_heading_path() -> None:
    """A passage knows the headings above it, outermost first, siblings excluded."""
    filler = "Words and words. " * 70
    text = f"# Book\n\n## One\n\n{filler}\n\n## Two\n\n### Part\n\n{filler}"
    assert cut(text)[-1].heading_path == ("Book", "Two", "Part")


def test_heading_is_no_passage() -> None:
    """A heading stands with the text below it, and tells what that is about."""
    filler = "Words and words. " * 70
    first, *_ = cut(f"# Book\n\n## One\n\n{filler}")
    assert first.text.startswith("# Book\n\n## One\n\nWords")
    assert first.heading_path == ("Book", "One")


def test_lone_headings_are_kept() -> None:
    """Slides that have titles only are not empty."""
    assert [p.text for p in cut("# One\n\n# Two")] == ["# One\n\n# Two"]


def test_code_has_no_headings() -> None:
    """A comment in a code block is no heading."""
    assert [h.text for h in find_headings("# A\n\n```\n# no\n```\n\n## B ##\n")] == ["A", "B"]


@pytest.mark.parametrize(
    ("start", "end", "expected"), [(0, 5, (1, 1)), (8, 12, (1, 2)), (10, 31, (2, 4))]
)
def test_page_range(start: int, end: int, expected: tuple[int, int]) -> None:
    """Pages are counted from 1; an empty page begins where the next one does."""
    assert pages([0, 10, 20, 20], start, end) == expected


def test_a_passage_is_of_one_page() -> None:
    """What is quoted from it is cited by the right page, slide or sheet."""
    first, second = "The first page says little.\n\n", "The second page goes on with it."
    found = cut(first + second, [0, len(first)])
    assert [(each.text, each.page_start, each.page_end) for each in found] == [
        (first.strip(), 1, 1),
        (second, 2, 2),
    ]


def test_no_pages() -> None:
    """Formats without pages have none."""
    assert pages([], 0, 5) == (None, None)


def test_embedded_text_names_its_context_once() -> None:
    """Title and headings go before the passage; a title that is also a heading is said once."""
    assert embedded_text("Ducks", ["Ducks", "Food"], "Weed.") == "Ducks › Food\nWeed."
    assert embedded_text("", [], "Weed.") == "Weed."


def test_large_text_is_quick() -> None:
    """Three megabytes take seconds, not minutes."""
    began = time.process_time()
    assert len(cut("A sentence of a long book, told slowly.\n\n" * 75_000)) > 2000
    assert time.process_time() - began < 20


def table(rows: int) -> str:
    lines = [f"| {number} | Customer {number} | {number * 7} |" for number in range(rows)]
    return "\n".join(["| Id | Name | Sum \\| total |", "| --- | --- | --- |", *lines])


def test_a_long_table_is_cut_between_rows() -> None:
    """No row is split, whatever the length of the table."""
    found = cut(f"# Sales\n\n{table(2000)}\n\nThe end.")
    assert len(found) > 20
    assert all(p.text.startswith("| ") for p in found[1:-1])
    assert all(p.text.endswith(" |") for p in found[:-1])


def test_rows_stand_under_their_tables_header() -> None:
    """Where a table goes on, its header is repeated as the last heading, not in the text."""
    text = f"# Sales\n\nAll of them.\n\n{table(200)}"
    first, *others = cut(text)
    assert first.heading_path == ("Sales",)
    assert all(p.heading_path == ("Sales", "Id | Name | Sum | total") for p in others)
    assert all(text[p.start : p.end] == p.text for p in others)


def test_text_after_a_table_is_not_under_its_header() -> None:
    """The header counts for rows only."""
    filler = "Words and words. " * 70
    *_, last = cut(f"# Sales\n\n{table(200)}\n\n## More\n\n{filler}")
    assert last.heading_path == ("Sales", "More")


def test_lines_that_are_almost_tables_are_quick() -> None:
    """Bars without end do not take for ever."""
    began = time.process_time()
    cut("|" * 20_000 + "\n|" + " - |" * 20_000 + "\nx\n" + "| ---" * 10_000)
    assert time.process_time() - began < 5
