"""What an answer states, and which citations are to support it."""

import re

from chat.answering.claims import Claims, claims_of
from chat.frames import CitationData
from retrieval.text import sentences


def claims(answer: str) -> Claims:
    citations = [
        CitationData(
            index=int(marker[1]),
            source_id="",
            document_id="",
            title="",
            quote="",
            span=marker.span(),
        )
        for marker in re.finditer(r"\[(\d)\]", answer)
    ]
    return claims_of(answer, citations, lambda text: sentences.split(text, "en"))


def stated(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.citations) for claim in claims(answer).cited]


def test_a_marker_belongs_to_its_sentence_before_or_behind_the_full_stop() -> None:
    expected = [("The tower is high.", (0,)), ("The river is wide.", (1,))]
    assert stated("The tower is high [1]. The river is wide [2].") == expected
    assert stated("The tower is high. [1] The river is wide. [2]") == expected
    assert stated("The tower is high.[1] The river is wide.[2]") == expected


def test_markers_that_stand_together_support_one_statement() -> None:
    assert stated("The tower is high [1][2].") == [("The tower is high.", (0, 1))]
    assert stated("The tower is high [1], [2].") == [("The tower is high,.", (0, 1))]


def test_markers_within_a_sentence_support_what_stands_before_them() -> None:
    assert stated("The tower is 96 m high [1] and was built in 1931 [2].") == [
        ("The tower is 96 m high", (0,)),
        ("and was built in 1931", (1,)),
    ]


def test_the_last_marker_supports_what_stands_behind_it_as_well() -> None:
    text = "According to a survey [1] the tower is 96 m high."
    assert stated(text) == [("According to a survey the tower is 96 m high.", (0,))]


def test_a_marker_that_leads_belongs_to_what_follows() -> None:
    answer = "- [1] The tower is high.\n- [2] The river is wide."
    assert stated(answer) == [("The tower is high.", (0,)), ("The river is wide.", (1,))]


def test_spans_are_those_of_the_sentences_in_the_answer() -> None:
    answer = "😀 First of all. The tower is high [1]. The river is wide [2]."
    spans = [answer[slice(*claim.sentence)] for claim in claims(answer).cited]
    assert spans == ["The tower is high [1].", "The river is wide [2]."]


def test_sentences_that_state_something_and_cite_nothing_are_counted() -> None:
    answer = (
        "From your documents:\n\nThe tower is high [1].\n\nBirds nest below its roof each year."
    )
    assert claims(answer).uncited == 1


def test_what_stands_in_a_paragraph_with_a_citation_is_not_counted() -> None:
    assert claims("Birds nest below its roof each year. The tower is high [1].").uncited == 0


def test_an_answer_without_citations_states_nothing_to_check() -> None:
    assert claims("The tower is high.").cited == ()
