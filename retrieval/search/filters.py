"""Filters: which documents a search may look at, as an immutable tree made of JSON.

{"$and": [{"language": "de"}, {"metadata.year": {"$gte": 2020}}]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrieval.search.filter_values import MAX_TEXT, UNSTORABLE, FilterError, Kind, Scalar, scalar

Operand = Scalar | tuple[Scalar, ...]

FIELDS: Mapping[str, Kind] = {
    "id": "id",
    "name": "text",
    "title": "text",
    "language": "text",
    "media_type": "text",
    "created_at": "time",
    "collection_id": "id",
    "collection": "text",
    "size": "number",
    "page_count": "number",
    "chunk_count": "number",
    "version": "number",
}
ALIASES = {
    "document_id": "id",
    "collection_ids": "collection_id",
    "collection_name": "collection",
    "size_in_bytes": "size",
}
METADATA = "metadata."

OPERATORS = ("$eq", "$neq", "$gt", "$gte", "$lt", "$lte", "$like", "$ilike", "$in", "$nin")
ORDERING = ("$gt", "$gte", "$lt", "$lte")
PATTERNS = ("$like", "$ilike")
LISTS = ("$in", "$nin")
JUNCTIONS = ("$and", "$or")

MAX_DEPTH = 8
MAX_CONDITIONS = 100
MAX_LIST = 1000
MAX_KEYS = 10


@dataclass(frozen=True)
class Comparison:
    """A field, an operator, and what the field is compared with, as JSON: there 1 is not true."""

    field: str
    operator: str
    operand_json: str

    @classmethod
    def of(cls, field: str, operator: str, operand: Operand) -> Comparison:
        """Return the comparison with a value."""
        return cls(field, operator, json.dumps(operand))

    @property
    def operand(self) -> Operand:
        """What the field is compared with."""
        value = json.loads(self.operand_json)
        return tuple(value) if isinstance(value, list) else value

    @property
    def kind(self) -> Kind:
        """What the field holds."""
        return kind_of(self.field)

    def to_json(self) -> dict[str, Any]:
        """Return the filter as JSON has it."""
        return {self.field: {self.operator: json.loads(self.operand_json)}}


@dataclass(frozen=True)
class Junction:
    """Filters of which all (`$and`) or at least one (`$or`) must hold."""

    operator: str
    filters: tuple[Filter, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the filter as JSON has it."""
        return {self.operator: [each.to_json() for each in self.filters]}


Filter = Comparison | Junction


def kind_of(field: str) -> Kind:
    """Return what a field holds."""
    return "metadata" if field.startswith(METADATA) else FIELDS[field]


def parse(data: object) -> Filter:
    """Return the filter that JSON says. Raises FilterError."""
    parsed = _parse(data, (), 1)
    if (count := _count(parsed)) > MAX_CONDITIONS:
        raise FilterError((), f"has {count} conditions; at most {MAX_CONDITIONS} are allowed")
    return parsed


def _parse(data: object, path: tuple[str, ...], depth: int) -> Filter:
    if not isinstance(data, dict) or not data:
        raise FilterError(path, 'must be an object such as {"language": {"$eq": "en"}}')
    if depth > MAX_DEPTH:
        raise FilterError(path, f"is nested deeper than {MAX_DEPTH} levels")
    if len(data) > MAX_CONDITIONS:
        raise FilterError(path, f"has more than {MAX_CONDITIONS} conditions")
    parts: list[Filter] = []
    for key, value in data.items():
        if key in JUNCTIONS:
            parts.append(_junction(key, value, (*path, key), depth))
        else:
            parts += _comparisons(key, value, (*path, str(key)))
    return parts[0] if len(parts) == 1 else Junction("$and", tuple(parts))


def _junction(operator: str, value: object, path: tuple[str, ...], depth: int) -> Junction:
    if not isinstance(value, list) or not value:
        raise FilterError(path, "must be a list of at least one filter")
    if len(value) > MAX_CONDITIONS:
        raise FilterError(path, f"holds more than {MAX_CONDITIONS} filters")
    each = (_parse(part, (*path, str(at)), depth + 1) for at, part in enumerate(value))
    return Junction(operator, tuple(each))


def _comparisons(key: object, value: object, path: tuple[str, ...]) -> list[Comparison]:
    field = _field(key, path)
    if not isinstance(value, dict):
        value = {"$eq": value}
    if not value:
        raise FilterError(path, f"needs an operator: {', '.join(OPERATORS)}")
    return [_comparison(field, operator, operand, path) for operator, operand in value.items()]


def _field(key: object, path: tuple[str, ...]) -> str:
    if not isinstance(key, str) or UNSTORABLE.search(key):
        raise FilterError(path[:-1], "has a field whose name is no text")
    if key.startswith("$"):
        raise FilterError(path, f"is no operator here; there are {' and '.join(JUNCTIONS)}")
    if key.startswith(METADATA):
        keys = key.split(".")[1:]
        if not all(keys) or len(keys) > MAX_KEYS or len(key) > MAX_TEXT:
            raise FilterError(path, f"must be metadata.KEY, or up to {MAX_KEYS} keys with dots")
        return key
    field = ALIASES.get(key, key)
    if field not in FIELDS:
        known = ", ".join(FIELDS)
        raise FilterError(path, f"is no field; there are {known} and metadata.*")
    return field


def _comparison(field: str, operator: object, operand: object, path: tuple[str, ...]) -> Comparison:
    if operator not in OPERATORS:
        raise FilterError(
            (*path, str(operator)), f"is no operator; there are {', '.join(OPERATORS)}"
        )
    operator, path = str(operator), (*path, str(operator))
    kind = kind_of(field)
    if operator in PATTERNS:
        return Comparison.of(field, operator, _pattern(operand, kind, path))
    if operator in LISTS or isinstance(operand, list):
        return Comparison.of(field, operator, _list(operator, operand, kind, path))
    if operator in ORDERING and (operand is None or isinstance(operand, bool) or kind == "id"):
        raise FilterError(path, "compares numbers, texts and times only")
    return Comparison.of(field, operator, scalar(operand, kind, path))


def _pattern(operand: object, kind: Kind, path: tuple[str, ...]) -> str:
    if kind not in ("text", "metadata"):
        raise FilterError(path, "compares texts only")
    if not isinstance(operand, str):
        raise FilterError(path, "must be a text, with % for any characters and _ for one")
    pattern = str(scalar(operand, "text", path))
    if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        raise FilterError(path, "ends with a backslash that escapes nothing")
    return pattern


def _list(operator: str, operand: object, kind: Kind, path: tuple[str, ...]) -> tuple[Scalar, ...]:
    whole = kind == "metadata" and operator in ("$eq", "$neq")
    if not isinstance(operand, list):
        raise FilterError(path, "must be a list")
    if not whole and operator not in LISTS:
        raise FilterError(path, "must be a single value; lists are for $in and $nin")
    if len(operand) > MAX_LIST:
        raise FilterError(path, f"has more than {MAX_LIST} entries")
    if None in operand and not whole:
        raise FilterError(path, "cannot hold null; say {'$eq': null}".replace("'", '"'))
    return tuple(scalar(each, kind, (*path, str(at))) for at, each in enumerate(operand))


def _count(parsed: Filter) -> int:
    if isinstance(parsed, Comparison):
        return 1
    return sum(_count(each) for each in parsed.filters)
