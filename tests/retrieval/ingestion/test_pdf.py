"""Pages of a PDF become paragraphs and headings."""

from typing import Any

import pytest

from retrieval.ingestion.pdf import paragraphs, reads_as_heading, render, tidy
from retrieval.ingestion.structure import Text


def heading(text: str, page: int, level: int = 2) -> dict[str, Any]:
    return {"page": page, "content": {"node_type": "heading", "text": text, "level": level}}


def test_lines_of_a_paragraph_are_joined_and_short_ones_are_not() -> None:
    lines = [
        "The tower of Lund is ninety-six metres high and",
        "was built by Anna Berg in the year of nineteen",
        "thirty-one.",
        "Height 96 m",
        "Built 1931",
    ]
    assert paragraphs(lines, {}) == (
        "The tower of Lund is ninety-six metres high and was built by Anna Berg in the year of "
        "nineteen thirty-one.\n\nHeight 96 m  \nBuilt 1931"
    )


def test_rows_of_a_table_beside_long_lines_stay_rows() -> None:
    prose = "Trips are booked by the travel desk, and trains are always preferred to any flight"
    rows = ["Domestic 110 32", "Leiden and the Netherlands 140 47", "Rest of the world 160 52"]
    assert paragraphs([prose, prose.lower(), "that is short.", *rows], {}) == (
        f"{prose} {prose.lower()} that is short.\n\n" + "  \n".join(rows)
    )


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("adip\x02iscing", "adipiscing"),
        ("Lucene\x02BM25", "Lucene-BM25"),
        ("con\x02\nsectetuer", "consectetuer"),
    ],
)
def test_words_cut_at_a_lines_end_are_joined(page: str, expected: str) -> None:
    assert tidy(page) == expected


def test_right_to_left_lines_that_were_placed_word_by_word_are_turned_round() -> None:
    assert tidy(".العمل نتائج تحسين R Studio في كبير") == "كبير في R Studio تحسين نتائج .العمل"


def test_right_to_left_lines_in_reading_order_stay() -> None:
    assert tidy("تحسين نتائج العمل.") == "تحسين نتائج العمل."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Abstract", True),
        ("2.1 Sick leave", True),
        ("Über uns", True),
        ("31,500", False),
        ("30 minutes", False),
        ("days of paid leave a year.", False),
        ("The report says:", False),
        ("Name\nYear", False),
    ],
)
def test_what_reads_as_a_heading(text: str, expected: bool) -> None:
    assert reads_as_heading(text) is expected


def test_headings_are_marked_and_numbers_give_their_level() -> None:
    text = Text(paged=True)
    nodes = [heading("2. Leave", 1, level=1), heading("2.1 Sick leave", 1, level=4)]
    render(["2. Leave\r\nAll have it.\r\n2.1 Sick leave\r\nReport sick."], nodes, text)
    assert str(text) == "## 2. Leave\n\nAll have it.\n\n### 2.1 Sick leave\n\nReport sick."


def test_a_numbered_section_is_a_heading_in_any_type() -> None:
    assert paragraphs(["3.1 Claims", "Keep receipts.", "1.5 kg of flour, 3.2 l of milk."], {}) == (
        "### 3.1 Claims\n\nKeep receipts.\n\n1.5 kg of flour, 3.2 l of milk."
    )


def test_running_heads_stay_only_where_they_stand_first() -> None:
    text = Text(paged=True)
    render([f"Handbook 2026 {n} / 4\nText {word}." for n, word in enumerate("abcd")], [], text)
    assert str(text).count("Handbook 2026") == 1
    assert str(text).count("Text ") == 4


@pytest.mark.parametrize(
    "line", ["Question {n}", "Invoice {m}", "Thanks for the order of item {n}.", "Day {n} of 12"]
)
def test_lines_that_count_as_pages_do_are_no_running_heads(line: str) -> None:
    text = Text(paged=True)
    lines = [line.format(n=n, m=1000 + n) for n in range(1, 13)]
    render([f"{each}\nWhy is it so?\nAnswer: {n}" for n, each in enumerate(lines)], [], text)
    found = " ".join(str(text).split())
    assert all(f"{each} Why is it so? Answer: {n}" in found for n, each in enumerate(lines))


@pytest.mark.parametrize(
    "foot", ["{n}", "– {n} –", "Page {n} of 12", "Seite {n}", "{n}/12", "第 {n} 页"]
)
def test_page_numbers_are_dropped(foot: str) -> None:
    text = Text(paged=True)
    render(
        [f"Of {word}.\n{foot.format(n=n)}" for n, word in enumerate("abcdefghijkl", 1)], [], text
    )
    assert foot.format(n=1) in str(text)
    assert not any(foot.format(n=n) in str(text) for n in range(2, 10))


def test_chapter_headings_are_no_running_heads() -> None:
    text = Text(paged=True)
    pages = [
        f"Chapter {n // 4}\nIt begins." if n % 4 == 0 else f"Page {n * 'x'}" for n in range(16)
    ]
    render(pages, [], text)
    assert str(text).count("Chapter") == 4


def test_every_page_has_its_start() -> None:
    text = Text(paged=True)
    render(["First.", "", "Third."], [], text)
    assert [str(text)[start:] for start in text.page_starts][::2] == ["First.\n\nThird.", "Third."]


def test_lines_with_numbers_of_their_own_are_no_running_heads() -> None:
    """Page numbers count the pages; numbers of invoices and amounts do not."""
    text = Text(paged=True)
    pages = [f"Invoice {n * n + 7}\nWork {word}.\nPage {n}" for n, word in enumerate("abcdef")]
    render(pages, [], text)
    assert str(text).count("Invoice") == 6
    assert str(text).count("Page") == 1


def test_a_page_that_says_one_thing_keeps_it() -> None:
    """A title that is repeated on pages of its own is content."""
    text = Text(paged=True)
    render(["Part\nText a.", "Part", "Part\nText b.", "Part\nText c."], [], text)
    assert str(text).count("Part") == 2
    assert len(text.page_starts) == 4


def test_of_lines_with_numbers_of_their_own_repeats_are_dropped() -> None:
    """A date in the foot may change in the middle of a document."""
    text = Text(paged=True)
    render([f"Text {word}.\nAs of 20{19 + n // 4}" for n, word in enumerate("abcdefgh")], [], text)
    assert [str(text).count(f"As of 20{year}") for year in (19, 20)] == [1, 1]
