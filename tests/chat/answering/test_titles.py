"""What a conversation is called."""

from __future__ import annotations

import pytest

from chat.answering.titles import LONGEST_CHARS, SHORT_CHARS, checked, from_question
from retrieval.backends.base import BackendError
from retrieval.backends.completion import Completion

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
    "written",
    [
        "Range of the lamp",
        "Title: Range of the lamp.",
        "“Range of the lamp”",
        "**Range of the lamp**",
    ],
)
def test_what_is_around_a_written_title_goes(written: str) -> None:
    assert checked(Completion(written)) == "Range of the lamp"


@pytest.mark.parametrize("written", ["", "…", "One\nTwo", "a" * (LONGEST_CHARS + 1)])
def test_what_can_be_no_title_is_refused(written: str) -> None:
    with pytest.raises(BackendError):
        checked(Completion(written))
