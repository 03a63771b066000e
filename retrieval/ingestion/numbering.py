"""The numbers and bullets in front of a Word file's paragraphs, which no text holds."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

PLACE = re.compile(r"%(\d)")
LEVELS = 9
ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
         (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


class Numbering:
    """Counts the paragraphs of each list; `root` is the file's part with the lists' formats."""

    def __init__(self, root: Element | None) -> None:
        self.formats: dict[str, dict[int, Element]] = {}
        self.lists: dict[str, str] = {}
        self.counts: dict[str, list[int]] = {}
        for each in root if root is not None else ():
            if each.tag == "abstractNum":
                levels = each.findall("lvl")
                self.formats[each.get("abstractNumId", "")] = {
                    int(level.get("ilvl", "0")): level for level in levels
                }
            elif each.tag == "num":
                self.lists[each.get("numId", "")] = _value(each, "abstractNumId")

    def label(self, number: str, level: str) -> tuple[str, int]:
        """Return what stands before the next paragraph of a list, and the paragraph's level.

        `""` if it is in none.
        """
        name = self.lists.get(number, "")
        depth = min(int(level), LEVELS - 1) if level.isdigit() else 0
        formats = self.formats.get(name, {})
        if depth not in formats:
            return "", 0
        if _value(formats[depth], "numFmt") in {"bullet", "none", ""}:
            return "-", depth
        counts = self.counts.setdefault(number, [0] * LEVELS)
        counts[depth] = (counts[depth] or _start(formats[depth]) - 1) + 1
        counts[depth + 1 :] = [0] * (LEVELS - depth - 1)

        def write(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            if at not in formats:
                return ""
            return written(counts[at] or _start(formats[at]), _value(formats[at], "numFmt"))

        return PLACE.sub(write, _value(formats[depth], "lvlText")).strip(), depth


def written(number: int, style: str) -> str:
    """Return a number in one of Word's styles; those of other scripts become digits."""
    if style in {"lowerLetter", "upperLetter"} and 0 < number <= 26 * 5:
        letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters if style == "lowerLetter" else letters.upper()
    if style in {"lowerRoman", "upperRoman"} and 0 < number < 4000:
        letters = ""
        for value, roman in ROMAN:
            letters += roman * (number // value)
            number %= value
        return letters if style == "lowerRoman" else letters.upper()
    return str(number)


def _start(level: Element) -> int:
    value = _value(level, "start")
    return int(value) if value.isdigit() else 1


def _value(element: Element, tag: str) -> str:
    found = element.find(tag)
    return found.get("val", "") if found is not None else ""
