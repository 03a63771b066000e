"""Metadata: what a file says of itself under stable names, and what people say, checked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from retrieval.text.cleaning import label
from retrieval.text.language import normalise
from retrieval.text.times import normalised, of_file

if TYPE_CHECKING:
    from retrieval.ingestion.reading import Extracted

# Of all that is said of a document: characters as JSON, and levels.
MAX_CHARACTERS = 20_000
MAX_DEPTH = 10
MAX_KEY = 100
MAX_AUTHORS = 50
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class MetadataError(ValueError):
    """Metadata that cannot be stored; the message is for people."""


def of_file_itself(extracted: Extracted) -> dict[str, Any]:
    """Return what a file says, under the names of docs/filters.md; what it does not is left out."""
    said = extracted["metadata"]
    found = {
        "title": extracted["title"],
        "author": _names(said.get("authors")),
        "date": of_file(str(said.get("created_at") or "")),
        "modified": of_file(str(said.get("modified_at") or "")),
        "keywords": _names(said.get("keywords")),
        "language": normalise(extracted["language"]),
        "type": extracted["media_type"],
        "page_count": len(extracted["page_starts"]),
    }
    return {name: value for name, value in found.items() if value}


def _names(value: object) -> list[str]:
    names = value if isinstance(value, list) else [value] if value else []
    return [said for name in names if (said := label(str(name), 200))][:MAX_AUTHORS]


def from_pairs(pairs: Iterable[str]) -> dict[str, Any]:
    """Return the metadata that KEY=VALUE texts say. Raises MetadataError.

    A value is a number, true, false, null or a list if JSON takes it for one, otherwise text.
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise MetadataError(f"“{pair[:MAX_KEY]}” is not KEY=VALUE.")
        found[key.strip()] = _value(value.strip())
    return checked(found)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def checked(data: object) -> dict[str, Any]:
    """Return metadata with its times in one form. Raises MetadataError."""
    if not isinstance(data, Mapping):
        raise MetadataError('Metadata is an object, such as {"year": 2020}.')
    found = {key: _checked(value, 2) for key, value in _entries(data)}
    if len(json.dumps(found, ensure_ascii=False)) > MAX_CHARACTERS:
        raise MetadataError(f"This is more than {MAX_CHARACTERS:,} characters of metadata.")
    return found


def _checked(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise MetadataError(f"Metadata is nested at most {MAX_DEPTH} levels deep.")
    if isinstance(value, Mapping):
        return {key: _checked(each, depth + 1) for key, each in _entries(value)}
    if isinstance(value, list):
        return [_checked(each, depth + 1) for each in value]
    if isinstance(value, str):
        if UNSTORABLE.search(value):
            raise MetadataError("Metadata has characters that no text may hold.")
        return normalised(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise MetadataError("Metadata has a number that is none.")
    return value


def _entries(data: Mapping[Any, Any]) -> Iterable[tuple[str, Any]]:
    """Yield what an object holds: its keys must be such that a filter can name them."""
    for key, value in data.items():
        if not isinstance(key, str) or not key or "." in key or UNSTORABLE.search(key):
            raise MetadataError(f"“{str(key)[:MAX_KEY]!s}” cannot be a key: no dots, not empty.")
        if len(key) > MAX_KEY:
            raise MetadataError(f"A key has at most {MAX_KEY} characters.")
        yield key, value
