"""How well a passage supports a statement."""

import pytest

from chat.answering.support import Evidence, Statement, Verdict, compare, quoted
from retrieval.backends.base import Passage
from retrieval.text import sentences

TOWER = (
    "The tower of Lund is 96 metres high and stands near the river. Anna Berg built it in 1931. "
    "It was not damaged in the war. Two lifts lead to its roof."
)


def evidence(text: str = TOWER, title: str = "Towers", language: str = "en") -> Evidence:
    analyse = lambda part: sentences.split(part, language)  # noqa: E731
    return Evidence(Passage(1, text, title, language=language, analyse=analyse))


def verdict(claim: str, *beside: str, language: str = "en", alike: float | None = None) -> Verdict:
    """Return the verdict by words, or where every sentence is that much alike in meaning."""
    passage = evidence()
    comparison = compare(Statement(claim, language), passage, [evidence(each) for each in beside])
    return comparison.verdict(alike and [alike] * len(passage.sentences))


def test_what_the_passage_says_is_supported_by_the_sentence_that_says_it() -> None:
    found = verdict("Anna Berg built the tower in 1931.")
    assert (found.support, found.sentence.text) == ("supported", "Anna Berg built it in 1931.")


def test_another_number_is_not_supported() -> None:
    found = verdict("Anna Berg built the tower in 1913.")
    assert (found.support, found.why) == ("unsupported", ("numbers",))


def test_one_wrong_number_among_right_ones_is_partly_supported() -> None:
    found = verdict("The tower of Lund is 96 metres high and Anna Berg built it in 1913.")
    assert (found.support, found.why) == ("partly", ("numbers",))


def test_another_unit_is_another_number() -> None:
    assert "numbers" in verdict("The tower of Lund is 96 feet high.").why


def test_a_number_of_another_sentence_does_not_do_where_one_is_restated() -> None:
    found = verdict("The tower of Lund is 1931 metres high and stands near the river.")
    assert "numbers" in found.why


@pytest.mark.parametrize(
    ("claim", "support"),
    [
        ("Employees get 28 days of leave.", "supported"),
        ("Employees get 30 days of leave.", "unsupported"),
        ("Claims are submitted within 30 days.", "supported"),
        ("Employees get 25 days of leave.", "unsupported"),
        ("Up to 5 unused days are carried over.", "supported"),
        ("Up to 31 unused days are carried over.", "unsupported"),
        ("Leave of 33 days is possible for some.", "partly"),
        ("The travel desk books trips for 28 people.", "unsupported"),
        ("A certificate is needed from the third day.", "supported"),
        ("A certificate is needed from the second day.", "unsupported"),
    ],
)
def test_a_number_that_the_passage_says_of_something_else_does_not_do(
    claim: str, support: str
) -> None:
    text = (
        "Employees get 28 days of paid leave a year. Later it is up to 33 days. Up to five unused"
        " days are carried over, and expire on 31 March. A medical certificate is needed from the"
        " third day.\n\n"
        "Trips are booked by the travel desk. Claims must be submitted within 30 days of a trip."
        " They are paid on the 25th of the month."
    )
    assert compare(Statement(claim, "en"), evidence(text, "Handbook")).verdict().support == support


def test_a_number_may_stand_in_the_row_of_a_table() -> None:
    text = (
        "Limits for hotels a night, and daily allowances.\n\n"
        "| Vienna | 160 | 50 |\n| Linz | 110 | 32 |\n| Graz | 125 | 44 |"
    )
    for claim, support in [("125", "supported"), ("140", "unsupported")]:
        said = Statement(f"The limit for hotels in Graz is {claim} a night.", "en")
        assert compare(said, evidence(text, "Travel")).verdict().support == support


def test_a_heading_states_nothing() -> None:
    passage = evidence("## The height of the tower\n\nIt is 96 metres.")
    found = compare(Statement("The height of the tower is great.", "en"), passage).verdict()
    assert found.sentence.text == "It is 96 metres."


def test_a_number_may_stand_in_what_is_cited_in_the_same_breath() -> None:
    claim = "The tower of Lund is 96 metres high, the one of Ystad 72."
    assert verdict(claim).support == "partly"
    assert verdict(claim, "The tower of Ystad is 72 metres high.").support == "supported"


def test_a_small_number_in_words_may_count_what_the_passage_lists() -> None:
    assert verdict("The tower stands near two places: the river, Lund.").support == "supported"


def test_but_not_where_the_passage_counts_the_same_otherwise() -> None:
    assert "numbers" in verdict("Three lifts lead to the roof of the tower.").why


def test_another_name_is_partly_supported() -> None:
    found = verdict("The architect Clara Berg built the tower in 1931.", alike=1.0)
    assert (found.support, found.why) == ("partly", ("names",))


@pytest.mark.parametrize("name", ["Anna Bergs", "Annah Berg", "Anna Berg's"])
def test_a_name_may_be_spelt_otherwise(name: str) -> None:
    assert verdict(f"In 1931 {name} tower was built.", alike=1.0).support == "supported"


def test_what_is_denied_on_one_side_only_is_not_supported() -> None:
    assert "denied" in verdict("The tower was damaged in the war.").why
    assert "denied" in verdict("Anna Berg did not build it in 1931.").why


def test_what_both_deny_is_supported() -> None:
    assert verdict("The tower was not damaged in the war.").support == "supported"


def test_something_else_is_unsupported() -> None:
    found = verdict("Penguins breed on the ice of Antarctica.", alike=0.1)
    assert (found.support, "meaning" in found.why) == ("unsupported", True)


def test_a_paraphrase_is_supported_by_its_meaning() -> None:
    claim = "Lund has a tower that rises to 96 metres."
    assert verdict(claim, alike=0.9).support == "supported"


def test_in_another_language_meaning_and_numbers_count() -> None:
    claim = "Der Turm wurde 1931 gebaut."
    assert verdict(claim, language="de", alike=0.8).support == "supported"
    assert verdict(claim, language="de", alike=0.1).support == "unsupported"
    assert verdict("Der Turm wurde 1913 gebaut.", language="de", alike=0.8).why == ("numbers",)


def test_another_script_is_another_language_even_if_that_is_not_known() -> None:
    assert verdict("这座塔建于1931年。", language="", alike=0.8).support == "supported"


def test_a_sentence_that_is_quoted_is_supported_whatever_it_is_set_in() -> None:
    statement = Statement("“Anna Berg *built* it in 1931\\.”", "en")
    found = quoted(statement, evidence())
    assert found is not None
    assert (found.support, found.score, found.sentence.start) == ("supported", 1.0, 63)


def test_a_part_of_a_sentence_is_no_quotation() -> None:
    assert quoted(Statement("damaged in the war", "en"), evidence()) is None


def test_a_passage_without_sentences_is_one() -> None:
    passage = Evidence(Passage(1, "96 m", "Towers"))
    assert compare(Statement("It is 96 m high.", "en"), passage).verdict().sentence.text == "96 m"
