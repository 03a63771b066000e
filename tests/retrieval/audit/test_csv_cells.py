"""Cells that no spreadsheet runs and nobody misreads."""

import pytest

from retrieval.audit.csv_cells import cell


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "＋1", "－1", "＠A"],
)
def test_what_begins_like_a_formula_is_text(text: str) -> None:
    assert cell(text).startswith("'")


def test_plain_text_stays_as_it_is() -> None:
    assert cell("Zoë’s ‘report’, 5 = 5") == "Zoë’s ‘report’, 5 = 5"
    assert cell(None) == ""
    assert cell(17) == "17"


def test_what_cannot_be_seen_is_spelt_out() -> None:
    assert cell("fdp\u202egpj.exe\u200b\x07") == r"fdp\u202egpj.exe\u200b\u0007"
    assert cell("a\U000e0041b") == r"a\U000e0041b"
