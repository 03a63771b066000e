"""What a conversation is called."""

from __future__ import annotations

import pytest

from chat.answering.titles import LONGEST_CHARS, SHORT_CHARS, from_question, written

LONG = (
    "I have been trying to find out whether the lighthouse at Cape Wrath that Stevenson built"
    " in 1828 was ever painted red"
)


def test_a_short_question_is_its_own_title() -> None:
    assert from_question("How far\n can the lamp be seen?") == "How far can the lamp be seen?"


def test_of_a_long_question_the_key_words_are_the_title() -> None:
    title = from_question(LONG)
    assert len(title) <= SHORT_CHARS + 1
    assert "lighthouse Cape Wrath Stevenson" in title
    assert " the " not in title


def test_a_long_question_without_spaces_is_cut() -> None:
    title = from_question("灯塔" * 80)
    assert len(title) == SHORT_CHARS
    assert title.endswith("…")


def test_one_endless_word_is_cut() -> None:
    assert len(from_question("a" * 5000)) <= SHORT_CHARS


@pytest.mark.parametrize(
    "text",
    [
        "Range of the lamp",
        "Title: Range of the lamp.",
        "**Title:** Range of the lamp",
        "“Range of the lamp”",
        "'Range of the lamp'.",
        '"Range of the lamp',
        "## **Range** of the `lamp`",
        "- [Range](https://example.com/) of the *lamp*",
        "Range of the lamp\n\n---",
        "Range **of the lamp",
    ],
)
def test_of_a_written_title_only_the_words_stay(text: str) -> None:
    assert written(text, LONG) == "Range of the lamp"


@pytest.mark.parametrize(
    "text", ['Meaning of "inert"', "The keepers' lamp", "C# and F#", "Lamp of 1828", "snake_case"]
)
def test_marks_that_belong_to_a_title_stay(text: str) -> None:
    assert written(text, LONG) == text


@pytest.mark.parametrize(
    "text", ["", "…", "**", "One\nTwo", "One\n\nTwo", "a" * (LONGEST_CHARS + 1)]
)
def test_what_can_be_no_title_is_none(text: str) -> None:
    assert written(text, LONG) == ""


@pytest.mark.parametrize(
    "text",
    [
        "NOT_IN_DOCUMENTS",
        "**NOT_IN_DOCUMENTS**.",
        "The lamp was painted red [1]",
        "The lamp **was painted red【2】",
        "You get 30 days",
        "The documents do not say who painted it.",
        "I am sorry, but I can only help you with questions about your documents",
    ],
)
def test_what_answers_the_question_is_no_title(text: str) -> None:
    assert written(text, LONG) == ""
