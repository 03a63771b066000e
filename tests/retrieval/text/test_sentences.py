"""Splitting passages into sentences."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval.text.sentences import split


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        ("Dr. Smith left. He was tired!", "en", ["Dr. Smith left.", "He was tired!"]),
        ("Er kam am 3. Mai. Das ist z. B. gut.", "de", ["Er kam am 3. Mai.", "Das ist z. B. gut."]),
        ("北京很大。真的吗？是！", "zh", ["北京很大。", "真的吗？", "是！"]),
        ("هل تعرفها؟ نعم.", "ar", ["هل تعرفها؟", "نعم."]),
        ("A line that\nruns on. Next.", "", ["A line that\nruns on.", "Next."]),
        ("# Oil\nUse oil.", "", ["Oil", "Use oil."]),
        ("Oil\n===\nUse oil.", "", ["Oil", "Use oil."]),
        ("- one\n- two\n  goes on\n3. three", "", ["one", "two\n  goes on", "three"]),
        ("| A | B |\n|---|---|\n| 1 | 2 |", "", ["A | B", "1 | 2"]),
        ("One.\n\nTwo", "", ["One.", "Two"]),
        ("", "", []),
        ("\n --- \n", "", []),
    ],
)
def test_split(text: str, language: str, sentences: list[str]) -> None:
    """Paragraphs, list items, headings and table rows bound sentences; lines alone do not."""
    assert [sentence.text for sentence in split(text, language)] == sentences


@given(
    st.text(
        st.sampled_from("ab. \n\r\t|-#*1)!?。é😀中>=") | st.characters(exclude_categories=["Cs"]),
        max_size=60,
    )
)
@example("|0\x1f")
def test_spans_are_exact_and_in_order(text: str) -> None:
    """Whatever the text: spans give the sentences, without outer spaces, and never overlap."""
    end = 0
    for sentence in split(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text.strip() == sentence.text != ""
        assert sentence.start >= end
        end = sentence.end


def test_no_word_is_lost() -> None:
    """Every word of a passage is in one of its sentences."""
    text = "# Pumps\nUse oil, e.g. No. 5.\n* first\n* second: yes\n\n| a | b |\n> quoted text"
    joined = " ".join(sentence.text for sentence in split(text)).split()
    assert set(joined) >= set(text.split()) - {"#", "*", "|", ">"}


def test_terms_are_words_and_stems() -> None:
    """A question's stems and its plain words are both among a sentence's terms."""
    (sentence,) = split("Die alten Häuser stehen in Zürich.", "de")
    assert {"haus", "hauser", "zurich", "alt"} <= sentence.terms
    assert "die" not in sentence.terms


def test_terms_of_unspaced_script() -> None:
    """Single characters and pairs are terms."""
    (sentence,) = split("中国很大。", "zh")
    assert {"中", "中国", "很大"} <= sentence.terms


def test_a_line_that_was_meant_to_end_ends_the_sentence() -> None:
    """Two spaces before a line's end are Markdown's hard break: rows of a table in a PDF."""
    found = [each.text for each in split("Domestic 110  \nLeiden 140\nand Graz", "en")]
    assert found == ["Domestic 110", "Leiden 140\nand Graz"]
