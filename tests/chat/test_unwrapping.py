"""Paragraphs that were wrapped at a column are shown as one line; all else keeps its breaks."""

from __future__ import annotations

import pytest

from chat.unwrapping import NOTHING, unwrapped

PROSE = """Built in 1828 by Robert Stevenson, the tower stands 20 metres tall.
Its lamp was first lit on Christmas Day, and can be seen from far
away.
"""
ITEM = """1. The lamp can be seen from 22 miles away in clear weather, and it
   was automated in 1998.
2. The foghorn fell silent in 2001.
"""
KEPT = {
    "verse": "It was many and many a year ago,\nIn a kingdom by the sea,\nThat a maiden lived\n",
    "long verse": (
        "I celebrate myself, and sing myself, and what I assume you shall assume,\n"
        "For every atom belonging to me as good belongs to you.\n"
        "I loafe and invite my soul, I lean and loafe at my ease observing a spear of grass.\n"
    ),
    "an address": "Anna Berg\nTornet 1\n222 22 Lund\nSweden\n",
    "a list": f"- {'lamp ' * 13}\n- {'foghorn ' * 8}\n- {'tower ' * 11}\n",
    "named values": f"title: The lamp is {'very ' * 9}far\nauthor: Anna Berg\nyear: 1931\n",
    "what is set in": f"The lamp can be seen from {'very ' * 9}far\n    away, and from near\n",
    "columns": "Tower of Lund        96 m          1931          Anna Berg, architect\n" * 3,
    "a table": f"| Lamp | {'far ' * 14}|\n|---|---|\n| Horn | {'near ' * 12}|\n",
    "values": f"{','.join(['12.5'] * 15)}\n" * 3,
    "a log": "Nov 30 12:00:01 lamp[12]: The lamp was lit and can be seen from afar\n" * 3,
    "code": f"```\nlight --lamp {'--far ' * 10}\nand then some more of it\n```\n",
    "indented code": f"    light {'--far ' * 10}\n    and then some more of it\n",
    "breaks that are meant": f"The lamp is seen from {'very ' * 9}far  \nand from near.\n",
    "a heading below": f"The lamp is seen from {'very ' * 9}far away\n{'=' * 76}\n",
    "whole paragraphs": f"{'The lamp is seen from afar. ' * 9}\nthe horn is heard {'far ' * 50}\n",
    "a script without spaces": f"{'隆德塔高九十六米' * 9}\n{'登上塔顶可以俯瞰' * 3}\n",
    "sentences of a line each": f"The lamp is {'very ' * 11}far.\nA horn is {'very ' * 11}loud.\n",
}


def test_a_wrapped_paragraph_is_one_line() -> None:
    text = f"# The lamp\n{PROSE}\n{PROSE}"
    one_line = PROSE.strip().replace("\n", " ")
    assert unwrapped(text, "text/plain") == f"# The lamp\n{one_line}\n\n{one_line}\n"


def test_an_items_further_lines_lose_their_indentation_and_the_text_keeps_its_length() -> None:
    shown = unwrapped(ITEM, "text/markdown")
    assert len(shown) == len(ITEM)
    first, second, _ = shown.replace(NOTHING, "").split("\n")
    assert first.endswith("and it was automated in 1998.")
    assert second == "2. The foghorn fell silent in 2001."


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
@pytest.mark.parametrize("before", ["", PROSE + "\n"])
def test_what_is_no_wrapped_prose_stays_as_it_is(text: str, before: str) -> None:
    assert unwrapped(before + text, "text/plain").endswith(text)


def test_the_line_below_a_heading_is_none_of_its_text() -> None:
    assert unwrapped(f"{PROSE}====\n", "text/markdown").endswith("far away.\n====\n")


def test_other_formats_stay_as_they_were_extracted() -> None:
    assert unwrapped(PROSE, "application/pdf") == PROSE
