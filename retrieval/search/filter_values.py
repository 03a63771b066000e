"""What a field may be compared with: checked, and times brought into one form."""

from __future__ import annotations

import math
import re
from typing import Literal
from uuid import UUID

from retrieval.text.times import iso, normalised

Scalar = str | int | float | bool | None
Kind = Literal["id", "text", "number", "time", "metadata"]

MAX_TEXT = 1000
MAX_NUMBER = 10**30
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
WANTED = {
    "id": "an id (a UUID)",
    "text": "a text",
    "number": "a number",
    "time": "a date or a time (ISO 8601)",
    "metadata": "a text, a number, true, false, null, or a list of these",
}


class FilterError(ValueError):
    """A filter that cannot be used; `path` leads to what is wrong with it."""

    def __init__(self, path: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.path = path


def scalar(value: object, kind: Kind, path: tuple[str, ...]) -> Scalar:
    """Return a value that may stand for a field's of this kind; raise FilterError for others."""
    if value is None:
        return None
    if isinstance(value, str):
        return _text(value, kind, path)
    if isinstance(value, bool) and kind == "metadata":
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(value, kind, path)
    raise FilterError(path, f"must be {WANTED[kind]}")


def _number(value: float, kind: Kind, path: tuple[str, ...]) -> float:
    if kind not in ("number", "metadata"):
        raise FilterError(path, f"must be {WANTED[kind]}")
    if not math.isfinite(value) or abs(value) > MAX_NUMBER:
        raise FilterError(path, "is no number that can be compared")
    return value


def _text(value: str, kind: Kind, path: tuple[str, ...]) -> str:
    if UNSTORABLE.search(value):
        raise FilterError(path, "has characters that no text may hold")
    if len(value) > MAX_TEXT:
        raise FilterError(path, f"is longer than {MAX_TEXT} characters")
    try:
        if kind == "id":
            return str(UUID(value))
        if kind == "time":
            return iso(value)
    except (ValueError, OverflowError):
        raise FilterError(path, f"must be {WANTED[kind]}") from None
    if kind == "number":
        raise FilterError(path, f"must be {WANTED[kind]}")
    return normalised(value) if kind == "metadata" else value
