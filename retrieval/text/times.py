"""Dates and times in one form, ISO 8601: 2024-05-01, or 2024-05-01T10:00:00Z, by the second."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

DATE = re.compile(r"\d{4}-\d\d-\d\d")
# A year, or a month, which some files have instead of a day.
PARTIAL = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?")
PDF = re.compile(r"D:(\d{4})(\d\d)(\d\d)(\d{6})?(?:([+-]\d\d)'?(\d\d)'?|Z.*)?")


def iso(value: str) -> str:
    """Return a date, or a time in UTC, for which it is taken if it does not say.

    Raises ValueError or OverflowError for anything else.
    """
    if DATE.fullmatch(value):
        if (day := date.fromisoformat(value)) == date.max:
            raise ValueError("no day is after it")
        return day.isoformat()
    return _in_utc(datetime.fromisoformat(value))


def is_day(value: object) -> bool:
    """Whether it is a day of the calendar, in ISO 8601, that has one after it."""
    try:
        return isinstance(value, str) and DATE.fullmatch(value) is not None and bool(iso(value))
    except ValueError:
        return False


def normalised(value: str) -> str:
    """Return a text; one that is a time in ISO 8601 in one form."""
    try:
        return iso(value) if DATE.match(value) else value
    except (ValueError, OverflowError):
        return value


def of_file(value: str) -> str:
    """Return a date or time as files have it (ISO 8601, mail's, PDF's), or "" if it is none."""
    value = value.strip()
    if PARTIAL.fullmatch(value):
        return value
    try:
        if found := PDF.fullmatch(value):
            year, month, day, time, hours, minutes = found.groups()
            zone = f"{hours}:{minutes}" if hours else "Z"
            return iso(f"{year}-{month}-{day}" + (f"T{time}{zone}" if time else ""))
        if DATE.match(value):
            return iso(value)
        return _in_utc(parsedate_to_datetime(value))
    except (ValueError, OverflowError):
        return ""


def _in_utc(moment: datetime) -> str:
    moment = moment.astimezone(UTC) if moment.tzinfo else moment
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
