"""The phrase for no answer never reaches the reader."""

from chat.answering.pipeline import Opening


def shown(*pieces: str) -> tuple[str, bool]:
    """Return what is let through, and whether the whole was the phrase."""
    opening = Opening()
    text = "".join(map(opening.feed, pieces))
    says_no_answer = opening.says_no_answer
    return (text if says_no_answer else text + opening.finish()), says_no_answer


def test_the_phrase_is_held_back_however_it_is_cut() -> None:
    assert shown("NOT", "_IN_", "DOCUMENTS", ".") == ("", True)


def test_an_answer_that_only_begins_like_it_is_shown_whole() -> None:
    assert shown("NO", ", it is not.") == ("NO, it is not.", False)


def test_text_behind_the_phrase_is_shown() -> None:
    text, says_no_answer = shown("NOT_IN_DOCUMENTS", " but near it")
    assert (text, says_no_answer) == ("NOT_IN_DOCUMENTS but near it", False)


def test_an_ordinary_answer_is_not_held_back() -> None:
    assert Opening().feed("The") == "The"
