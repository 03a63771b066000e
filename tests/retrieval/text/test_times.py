"""Dates and times in one form."""

import pytest

from retrieval.text.times import normalised, of_file


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("2024-05-01", "2024-05-01"),
        ("2024-05-01T12:00:00.5+02:00", "2024-05-01T10:00:00Z"),
        ("2024-05-01 12:00", "2024-05-01T12:00:00Z"),
        ("2024", "2024"),
        ("2024-05", "2024-05"),
        ("2024-13", ""),
        ("D:20240501120000+02'00'", "2024-05-01T10:00:00Z"),
        ("D:20240501", "2024-05-01"),
        ("D:20240501120000Z", "2024-05-01T12:00:00Z"),
        ("Wed, 01 May 2024 12:00:00 +0200", "2024-05-01T10:00:00Z"),
        ("2024-02-30", ""),
        ("0001-01-01T00:00:00+14:00", ""),
        ("last spring", ""),
        ("", ""),
    ],
)
def test_times_of_files(written: str, form: str) -> None:
    """ISO 8601, mail and PDF have the same time; what is none is left out."""
    assert of_file(written) == form


@pytest.mark.parametrize("text", ["2024-05-01 final", "9999-12-31", "2024-02-30", "May 2024", ""])
def test_text_stays_text(text: str) -> None:
    """What only looks like a time is left as it is."""
    assert normalised(text) == text
