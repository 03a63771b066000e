"""Cells of CSV files that nobody's spreadsheet takes for anything but text."""

from __future__ import annotations

import unicodedata

# What spreadsheets take for the beginning of a formula, in either width.
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
# Control characters, those that turn the direction of a text, and other invisible ones.
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def cell(value: object) -> str:
    """Return a value as text: no formula, and what cannot be seen is spelt out as `\\u202e`."""
    text = "" if value is None else str(value)
    shown = spelt_out(text)
    if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA):
        return f"'{shown}"
    return shown


def spelt_out(text: str) -> str:
    """Return a text in which what cannot be seen can, as `\\u202e`."""
    return "".join(_spelt(each) for each in text)


def _spelt(character: str) -> str:
    if unicodedata.category(character) not in UNSEEN:
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
