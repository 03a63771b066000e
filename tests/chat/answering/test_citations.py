"""An answer's token and citation frames."""

from chat.answering.citations import CitedAnswer, without_markers
from chat.frames import Citation, Source, Token
from retrieval.backends.base import Passage
from retrieval.text import sentences

TOWER = "The tower stands in Lund. It is 96 m high. Anna Berg built it in 1931."
RIVER = "The river Höje flows by. It floods in spring."


def cited(*texts: str) -> CitedAnswer:
    passages = [
        Passage(index, text, title=f"Document {index}", page=index, analyse=sentences.split)
        for index, text in enumerate(texts, 1)
    ]
    sources = [
        Source(
            index=passage.index,
            source_id=f"chunk-{passage.index}",
            document_id=f"document-{passage.index}",
            title=passage.title,
            page=passage.page,
            snippet=passage.text,
        )
        for passage in passages
    ]
    return CitedAnswer(passages, sources)


def frames_of(answer: CitedAnswer, *pieces: str) -> list[Token | Citation]:
    frames = [frame for piece in pieces for frame in answer.feed(piece)]
    return [*frames, *answer.finish()]


def test_a_citation_comes_right_behind_the_token_with_its_marker() -> None:
    frames = frames_of(cited(TOWER), "It is 96 m high [", "1", "].")
    assert [frame.type for frame in frames] == ["token", "token", "token", "citation", "token"]
    assert frames[2].text == "[1]"


def test_tokens_joined_are_the_answer() -> None:
    answer = cited(TOWER, RIVER)
    frames = frames_of(answer, "High [1, 2", "] and wide【2】 but [7] not.")
    assert "".join(frame.text for frame in frames if isinstance(frame, Token)) == answer.text
    assert answer.text == "High [1][2] and wide[2] but not."


def test_spans_cover_exactly_the_marker_in_code_points() -> None:
    answer = cited(TOWER, RIVER)
    frames_of(answer, "😀 naïve 天空 [1], then [2][1].")
    spans = [answer.text[slice(*citation.span)] for citation in answer.citations]
    assert spans == ["[1]", "[2]", "[1]"]


def test_the_quote_is_the_sentence_that_shares_most_words_with_the_claim() -> None:
    answer = cited(TOWER)
    frames_of(answer, "Lund has a tower. Anna Berg was its builder [1]. It is 96 m high. [1]")
    assert [citation.quote for citation in answer.citations] == [
        "Anna Berg built it in 1931.",
        "It is 96 m high.",
    ]


def test_only_the_first_citation_of_a_passage_carries_its_source() -> None:
    frames = frames_of(cited(TOWER), "One [1]. Two [1].")
    found = [frame for frame in frames if isinstance(frame, Citation)]
    assert [(frame.is_new, frame.source is not None) for frame in found] == [
        (True, True),
        (False, False),
    ]


def test_numbers_without_a_passage_are_removed_and_counted() -> None:
    answer = cited(TOWER)
    frames_of(answer, "High [3]. In [2024].")
    assert (answer.text, answer.removed_markers) == ("High. In [2024].", 1)


def test_markers_are_left_out_of_what_goes_into_the_next_prompt() -> None:
    assert without_markers("High [1][2]. Wide.") == "High . Wide."


def test_a_citation_of_merged_chunks_is_of_the_one_that_holds_the_sentence() -> None:
    """Its page and its chunk are those that are opened."""
    parts = {0: cited(TOWER).sources[0], 39: cited(TOWER, RIVER).sources[1]}
    answer = cited(TOWER)
    answer.locate = lambda index, offset: parts[max(start for start in parts if start <= offset)]
    (citation,) = [
        frame
        for frame in frames_of(answer, "Anna Berg built it in 1931 [1].")
        if isinstance(frame, Citation)
    ]
    assert (citation.index, citation.source_id, citation.page) == (1, "chunk-2", 2)
    assert citation.quote == "Anna Berg built it in 1931."
