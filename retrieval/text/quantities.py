"""Numbers in a text: in digits or in words, with their units, wherever two texts must agree.

`1.5 million` and `1,500,000` are the same; `1.500` is read in the ways in which it can be meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from django.utils import translation
from django.utils.dates import MONTHS, MONTHS_3

from retrieval.text.folding import fold
from retrieval.text.number_words import han_numbers, number_words
from retrieval.text.units import scale_behind, unit_before, unit_behind, unit_further_on

DECIMAL_SIGNS = {
    **dict.fromkeys(("en", "zh", "ja", "ko", "th", "he", "hi"), "."),
    **dict.fromkeys(("de", "es", "fr", "it", "pt", "nl", "da", "sv", "no", "fi", "pl", "cs"), ","),
    **dict.fromkeys(("ru", "uk", "tr", "el", "hu", "ro", "id", "vi"), ","),
}

_fractions = {c: unicodedata.numeric(c) for c in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"}
_number = re.compile(
    rf"\d+(?:[.,،'’٫٬\u00a0\u202f]\d+|(?: \d{{3}}){{2,}})*(?!\d)[{''.join(_fractions)}]?"
    rf"|[{''.join(_fractions)}]"
)
_digits = re.compile(r"\d+")
_roughly = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|some|circa|ca\.?|etwa|rund|ungefahr|environ"
    r"|pres de|unos|unas|cerca de|alrededor de|aproximadamente|ongeveer)"
    r"|[~≈]|约|大约|حوالي|نحو|около|примерно)\s*(?:the\s+)?[$€£¥]?$"
)
_above = re.compile(
    r"(?:\b(?:over|more than|uber|mehr als|plus de|mas de|oltre|piu di|ruim)|超过)\s*[$€£¥]?$"
)
_below = re.compile(
    r"(?:\b(?:nearly|almost|under|(?:less|fewer) than|fast|knapp|weniger als|presque|moins de"
    r"|casi|menos de|quasi|quase|bijna)|近|почти)\s*(?:the\s+)?[$€£¥]?$"
)
SLACK = 0.1

_century = re.compile(
    r"(?:st|nd|rd|th)?[\s.-]*(?:centur|jahrhundert|siecle|siècle|siglo|secolo|século|eeuw|世纪)",
    re.IGNORECASE,
)
_decade = re.compile(r"['’]?(?:s|er|ern)\b|年代")
_day_before = re.compile(r"\d(?:st|nd|rd|th)?[.\s]*(?:de\s|of\s)?$")
_day_behind = re.compile(r"\.?,?\s*(?:de\s|of\s)?\d")
_beside = re.compile(r"(?:st|nd|rd|th)?[.,\s]*(?:de\s|of\s)?")
_ordinal = re.compile(r"(?:st|nd|rd|th)\b")
# The unit of what is one in a row, such as the day of a month: no amount agrees with it.
NTH = "nth"


@dataclass(frozen=True)
class Quantity:
    """A number at [start, end) of its text: `values` are the ways in which it can be read.

    `step` is the place of its last digit (0.1 in 2.5, 100000 in 2.5 million); `slack` are the
    shares by which what is meant may be less and more (about 40, over 40); `years` are those from
    and before which it stands for (1990s, 19th century); `unit` is "" if none is known.
    """

    text: str
    start: int
    end: int
    values: frozenset[float]
    unit: str = ""
    step: float = 1.0
    slack: tuple[float, float] = (0.0, 0.0)
    years: tuple[int, int] | None = None
    in_words: bool = False


def quantities(text: str, language: str = "") -> list[Quantity]:
    """Return the numbers of a text in order of appearance.

    Numbers in words are read in `language` (ISO 639-1), if that is known. "One" is none: it is an
    article, or stands for what was said, more often than it counts.
    """
    months = list(_months(text, language))
    numbers = [*_in_digits(text, language), *_in_words(text, language)]
    found = [*months, *(_as_day(number, months, text) for number in numbers)]
    return sorted(found, key=lambda quantity: quantity.start)


def _as_day(number: Quantity, months: Sequence[Quantity], text: str) -> Quantity:
    """Return a number that stands beside a month as the day that it is."""
    if not 1 <= min(number.values) <= 31 or number.step < 1:
        return number
    gaps = (text[min(number.end, month.end) : max(number.start, month.start)] for month in months)
    return replace(number, unit=NTH) if any(map(_beside.fullmatch, gaps)) else number


def agrees(said: Quantity, source: Quantity) -> bool:
    """Return whether a number says what one of its source says, or a rounding of it."""
    if said.unit and source.unit and said.unit != source.unit:
        return False
    return any(_near(a, b, said, source) for a in said.values for b in source.values)


def _near(a: float, b: float, said: Quantity, source: Quantity) -> bool:
    if a == b:
        return True
    if said.years or source.years:
        low, high = said.years or (a, a + 1)
        first, last = source.years or (b, b + 1)
        return low < last and first < high
    below, above = said.slack
    if below or above:
        return a - below * abs(a) <= b <= a + above * abs(a)
    rounded = said.step != 1 and said.step > source.step
    return rounded and abs(a - b) <= said.step / 2 * 1.0001


def _in_digits(text: str, language: str) -> Iterator[Quantity]:
    for match in _number.finditer(text):
        before = text[max(0, match.start() - 1) : match.start()]
        if before.isalpha() and before.isascii():
            continue  # a part of a code
        if parts := _parts(match):
            yield from parts
            continue
        written, start, end = match[0], *match.span()
        values, step = _read(written, language)
        if scale := scale_behind(text, end):
            factor, end = scale
            values, step = frozenset(value * factor for value in values), step * factor
        unit = unit_behind(text, end) or unit_before(text, start) or unit_further_on(text, end)
        if _ordinal.match(text, end):
            unit = NTH
        yield Quantity(
            text[start:end],
            start,
            end,
            values,
            unit,
            step,
            slack=_slack(text, start),
            years=_years(values, text[end : end + 24]),
        )


def _parts(match: re.Match[str]) -> list[Quantity]:
    """Return the numbers of a date, an address or a version: each must be there."""
    groups = list(_digits.finditer(match[0]))
    if len(groups) < 3 or len(set(_separators(match[0]))) > 1 or _in_threes(groups):
        return []
    offset = match.start()
    return [
        Quantity(each[0], offset + each.start(), offset + each.end(), frozenset({float(each[0])}))
        for each in groups
    ]


def _separators(written: str) -> list[str]:
    return [sign for sign in written if not sign.isdigit() and sign not in _fractions]


def _in_threes(groups: Sequence[re.Match[str]]) -> bool:
    return len(groups[0][0]) <= 3 and all(len(group[0]) == 3 for group in groups[1:])


def _read(written: str, language: str) -> tuple[frozenset[float], float]:
    """Return the ways to read digits with separators, and the place of the last one."""
    fraction = _fractions.get(written[-1], 0.0)
    matches = list(_digits.finditer(written))
    # int() reads the digits of every script.
    groups = ["".join(str(int(digit)) for digit in match[0]) for match in matches]
    if not groups:
        return frozenset({fraction}), 0.01
    whole = frozenset({float("".join(groups))})
    if len(groups) == 1:
        return frozenset({float(groups[0]) + fraction}), 0.01 if fraction else 1.0
    signs = _separators(written)
    if len(set(signs)) > 1:  # 1.234,5: the last one is the decimal sign
        return _decimal("".join(groups[:-1]), groups[-1])
    if len(groups) > 2:
        return whole, 1.0
    as_decimal, step = _decimal(*groups)
    if not _in_threes(matches) or groups[0] == "0":
        return as_decimal, step
    # 1.234 and 1,234 are either, by language.
    decimal_sign = DECIMAL_SIGNS.get(language, "")
    thousands = signs[0] not in ".," or (decimal_sign and signs[0] != decimal_sign)
    return (whole if thousands else whole | as_decimal), 1.0


def _decimal(whole: str, fraction: str) -> tuple[frozenset[float], float]:
    return frozenset({float(f"{whole}.{fraction}")}), 10.0 ** -len(fraction)


def _years(values: frozenset[float], behind: str) -> tuple[int, int] | None:
    """Return the years that a number stands for if a decade or a century is meant."""
    number = int(min(values))
    if _century.match(behind) and 0 < number < 30:
        return (number - 1) * 100, number * 100
    if _decade.match(behind) and number % 10 == 0 and (number >= 1000 or number < 100):
        first = number if number >= 1000 else 1900 + number
        return first, first + (100 if first % 100 == 0 else 10)
    return None


def _in_words(text: str, language: str) -> Iterator[Quantity]:
    for start, end, value, is_ordinal in (*number_words(text, language), *han_numbers(text)):
        step = 1.0
        while value >= 1000 and value % (step * 10) == 0:
            step *= 10
        values = frozenset({value})
        unit = NTH if is_ordinal else unit_behind(text, end) or unit_further_on(text, end)
        yield Quantity(
            text[start:end],
            start,
            end,
            values,
            "%" if text[:start].endswith("百分之") else unit,
            step,
            slack=_slack(text, start),
            years=_years(values, text[end : end + 24]) if is_ordinal else None,
            in_words=True,
        )


def _slack(text: str, start: int) -> tuple[float, float]:
    before = fold(text[max(0, start - 24) : start])
    if _roughly.search(before):
        return SLACK, SLACK
    return SLACK if _below.search(before) else 0.0, SLACK if _above.search(before) else 0.0


def _months(text: str, language: str) -> Iterator[Quantity]:
    """Yield the months of dates by their numbers: names that stand beside a number."""
    for match in re.finditer(r"[^\W\d_]+", text):
        number = _month_names(language).get(fold(match[0]))
        if number is None or (match[0].islower() and language == "en"):
            continue
        start, end = match.span()
        if _day_before.search(text[:start]) or _day_behind.match(text[end:]):
            yield Quantity(match[0], start, end, frozenset({float(number)}), "month of")


@cache
def _month_names(language: str) -> dict[str, int]:
    """Return the names of the months, and their short forms, as Django's translations have them."""
    names: dict[str, int] = {}
    for code in {language or "en", "en"}:
        with translation.override(code):
            for table in (MONTHS_3, MONTHS):
                names |= {fold(str(name)).strip("."): number for number, name in table.items()}
    return names | {"sept": 9}
