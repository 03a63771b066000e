"""Numbers of texts, and whether two of them are the same."""

import pytest

from retrieval.text.quantities import agrees, quantities


def read(text: str, language: str = "en") -> list[tuple[list[float], str]]:
    return [(sorted(each.values), each.unit) for each in quantities(text, language)]


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("1,160,000 people", "en", [1_160_000]),
        ("1.160.000 personas", "es", [1_160_000]),
        ("7 500 000 km", "fr", [7_500_000]),
        ("it grew by 2,000", "en", [2000]),
        ("6½ sacks", "en", [6.5]),
        ("$37.6 billion", "en", [37.6e9]),
        ("1,2 Milliarden Euro", "de", [1.2e9]),
        ("320万人", "zh", [3.2e6]),
        ("twenty-four of them", "en", [24]),
        ("six-time winner", "en", [6]),
        ("vierundzwanzig", "de", [24]),
        ("三百五十人", "zh", [350]),
        ("عام ٢٠١٦", "ar", [2016]),
    ],
)
def test_a_number_is_read_however_it_is_written(
    text: str, language: str, values: list[float]
) -> None:
    assert [found for found, _ in read(text, language)] == [values]


def test_a_separator_is_read_both_ways_where_the_language_is_not_known() -> None:
    assert read("1.234", "") == [([1.234, 1234], "")]


def test_a_date_has_its_day_its_month_and_its_year() -> None:
    for text in ("2016-02-07", "February 7, 2016", "7 February 2016"):
        assert sorted(value for values, _ in read(text) for value in values) == [2, 7, 2016]


def test_may_is_a_month_beside_a_number_only() -> None:
    assert [values for values, _ in read("It may rain in May 1931.")] == [[5], [1931]]


def test_one_is_no_number() -> None:
    assert read("One of them, not two.") == [([2], "")]


def test_what_is_one_in_a_row_is_no_amount() -> None:
    assert [unit for _, unit in read("On the 25th, the third day, 31 March.")] == [
        "nth", "nth", "nth", "month of",
    ]  # fmt: skip


def test_digits_of_a_code_are_no_numbers() -> None:
    assert read("B2 and km2") == []


@pytest.mark.parametrize(
    ("said", "source", "same"),
    [
        ("96 m", "96 metres", True),
        ("96 m", "96 km", False),
        ("40 %", "forty percent", True),
        ("1.3 million", "1,289,000", True),
        ("1.2 million", "1,289,000", False),
        ("about 1,300", "1,289", True),
        ("1,300", "1,289", False),
        ("over 1,250", "1,289", True),
        ("over 1,300", "1,289", False),
        ("almost 1,300", "1,289", True),
        ("almost 1,250", "1,289", False),
        ("up to 33 days", "30 days", False),
        ("30 days", "30 seconds", False),
        ("25 days", "the 25th", False),
        ("the third day", "on day 3", True),
        ("the 1990s", "in 1995", True),
        ("the 1990s", "in 1985", False),
        ("the 19th century", "in 1830", True),
        ("308 points", "608 points", False),
    ],
)
def test_numbers_agree_if_they_say_the_same(said: str, source: str, *, same: bool) -> None:
    (ours,), (theirs,) = quantities(said, "en"), quantities(source, "en")
    assert agrees(ours, theirs) is same


def test_numbers_agree_across_languages() -> None:
    (ours,), (theirs,) = quantities("1.400 km", "de"), quantities("1,400 kilometres", "en")
    assert agrees(ours, theirs)
