"""Markers are found wherever the stream is cut, and nothing else is taken for one."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.answering.markers import MarkerParser


def parse(*pieces: str, known: int = 4) -> str:
    """Return the text with markers as ⟨n⟩."""
    parser = MarkerParser(range(1, known + 1))
    found = [piece for text in pieces for piece in parser.feed(text)] + parser.finish()
    return "".join(f"⟨{piece}⟩" if isinstance(piece, int) else piece for piece in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Blue [1].", "Blue ⟨1⟩."),
        ("Blue[1].", "Blue⟨1⟩."),
        ("In 2020[1] and 5%[2]", "In 2020⟨1⟩ and 5%⟨2⟩"),
        ("Two [1, 2].", "Two ⟨1⟩⟨2⟩."),
        ("Two [1][2].", "Two ⟨1⟩⟨2⟩."),
        ("Two [1; 2], three [1 2 3]", "Two ⟨1⟩⟨2⟩, three ⟨1⟩⟨2⟩⟨3⟩"),
        ("Range [1-3] [2–4]", "Range ⟨1⟩⟨2⟩⟨3⟩ ⟨2⟩⟨3⟩⟨4⟩"),
        ("Wide 【1】【2†source】［3］", "Wide ⟨1⟩⟨2⟩⟨3⟩"),
        ("Doubled [[1]]", "Doubled ⟨1⟩"),
        ("天空是蓝色的[1]。", "天空是蓝色的⟨1⟩。"),
        ("[1] first", "⟨1⟩ first"),
        ("(see [1])", "(see ⟨1⟩)"),
        ("nested [see [1]] here", "nested [see ⟨1⟩] here"),
        ("**bold**[1] *it*[2]", "**bold**⟨1⟩ *it*⟨2⟩"),
        ("[1](not a link) yes", "⟨1⟩(not a link) yes"),
    ],
)
def test_markers_become_numbers(text: str, expected: str) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "year [2024] and [1990-1995]",
        "a[1] + arr[2] + my_list[3] + fooBar[4] + x.y[1]",
        "- [x] done\n- [ ] open",
        "`a [1]` and ``b ` [2]`` code",
        "```\nx [1]\n```\n",
        "~~~py\nx [1]\n\ny [2]\n~~~\n",
        "[1](https://example.org) and [text [1]](https://example.org/a_(b))",
        "![1](picture.png)",
        "[1]: https://example.org",
        "[the report][1]",
        "https://example.org/[1] www.example.org/[2]",
        "maths $x_[1] + y$ here",
        "maths $$\nx [1]\n$$ here",
        r"maths \(x [1]\) and \[ y [2] \] here",
        "[] [a] [1a] [1.5] [-]",
        "an open [1",
        "[1-300]",
    ],
)
def test_other_brackets_stay(text: str) -> None:
    assert parse(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gone [9].", "Gone."),
        ("Gone [9] and on", "Gone and on"),
        ("Part [1, 9].", "Part ⟨1⟩."),
        ("Glued [9][1]", "Glued ⟨1⟩"),
        ("Zero [0]\nnext", "Zero\nnext"),
        ("at [9]end", "at end"),
    ],
)
def test_numbers_without_a_passage_are_removed(text: str, expected: str) -> None:
    assert parse(text) == expected


def test_removed_numbers_are_counted() -> None:
    parser = MarkerParser({1})
    parser.feed("a [7] b [1, 8] c [2024]")
    parser.finish()
    assert parser.removed == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("costs $5 [1] and $10 [2]", "costs $5 ⟨1⟩ and $10 ⟨2⟩"),
        ("US$ 5 [1], $AAPL rose [2]\n", "US$ 5 ⟨1⟩, $AAPL rose ⟨2⟩\n"),
    ],
)
def test_money_is_not_maths(text: str, expected: str) -> None:
    assert parse(text) == expected


def test_a_lone_backtick_ends_with_its_paragraph() -> None:
    assert parse("it`s so\n\nnow [1]") == "it`s so\n\nnow ⟨1⟩"


def test_text_without_brackets_is_not_held_back() -> None:
    assert MarkerParser({1}).feed("Hello") == ["Hello"]


def test_a_split_marker_is_held_back_until_it_is_whole() -> None:
    parser = MarkerParser({1, 12})
    assert parser.feed("So [1") == ["So"]
    assert parser.feed("2]") == []
    assert parser.feed(".") == [" ", 12, "."]


TEXTS = st.lists(
    st.sampled_from(
        [*"[]()`$\\\n 1239a:【】", "[1]", "[1, 2]", "[9]", "$x$", "```\n", "word ", "](http://x)"]
    ),
    max_size=30,
).map("".join)


@given(text=TEXTS, cuts=st.lists(st.integers(0, 80), max_size=8))
def test_where_the_stream_is_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(edges)]
    assert parse(*pieces) == parse(text)
