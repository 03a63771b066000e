"""Filters as SQL on a row of `scope.SEARCHED`: every value is a parameter.

Metadata is what the file says (of the version) with what people say (of the document) over it.
It is compared by jsonpath, which compares texts by code points, in every database alike.
"""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

from retrieval.database import Statement
from retrieval.search.filter_values import Scalar
from retrieval.search.filters import METADATA, PATTERNS, Comparison, Filter, kind_of
from retrieval.text.times import is_day

COLUMNS = {
    "id": "document.id",
    "name": "document.name",
    "title": "document.title",
    "language": "nullif(version.language, '')",
    "media_type": "nullif(version.media_type, '')",
    "created_at": "document.created_at",
    "collection_id": "document.collection_id",
    "collection": (
        "(SELECT collection.name FROM retrieval_collection AS collection"
        " WHERE collection.id = document.collection_id)"
    ),
    "size": "version.size",
    "page_count": "nullif(cardinality(version.page_starts), 0)",
    "chunk_count": "version.chunk_count",
    "version": "version.number",
}
METADATA_SQL = "(version.metadata || document.metadata)"
TYPES = {"id": "uuid", "text": "text", "number": "numeric", "time": "timestamptz"}
SIGNS = {"$eq": "=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
LIKE = {"$like": "LIKE", "$ilike": "ILIKE"}
# $neq and $nin hold where these do not, and so for documents without the field.
NEGATED = {"$neq": "$eq", "$nin": "$in"}


def compiled(filter_: Filter) -> Statement:
    """Return the condition that a filter is."""
    if isinstance(filter_, Comparison):
        return _comparison(filter_)
    parts = [compiled(each) for each in filter_.filters]
    sign = " AND " if filter_.operator == "$and" else " OR "
    return Statement(
        f"({sign.join(part.sql for part in parts)})", [p for part in parts for p in part.params]
    )


def _comparison(comparison: Comparison) -> Statement:
    field, operator, operand = comparison.field, comparison.operator, comparison.operand
    if operator in NEGATED:
        sql, params = _comparison(Comparison.of(field, NEGATED[operator], operand))
        return Statement(f"(({sql}) IS NOT TRUE)", params)
    if comparison.kind == "metadata":
        return _metadata(field, operator, operand)
    if operator == "$in" and isinstance(operand, tuple):
        return _any_of(field, operand)
    return _column(comparison)


def _column(comparison: Comparison) -> Statement:
    column, cast = COLUMNS[comparison.field], TYPES[comparison.kind]
    operator, operand = comparison.operator, comparison.operand
    if operand is None:
        return Statement(f"{column} IS NULL")
    if operator in PATTERNS:
        return Statement(f"{column} {LIKE[operator]} %s::text", [operand])
    if comparison.kind == "time":
        return _time(column, operator, str(operand))
    if comparison.kind == "text" and operator != "$eq":
        column += ' COLLATE "C"'
    return Statement(f"{column} {SIGNS[operator]} %s::{cast}", [str(operand)])


def _any_of(field: str, operand: tuple[Scalar, ...]) -> Statement:
    kind = kind_of(field)
    if kind != "time":
        values = [str(each) for each in operand]
        return Statement(f"{COLUMNS[field]} = ANY(%s::{TYPES[kind]}[])", [values])
    parts = [_comparison(Comparison.of(field, "$eq", each)) for each in operand]
    sql = " OR ".join(part.sql for part in parts) or "false"
    return Statement(f"({sql})", [p for part in parts for p in part.params])


def _time(column: str, operator: str, operand: str) -> Statement:
    """Compare with a second, or with a whole day in UTC."""
    if is_day(operand):
        bounds = _day(operand, operator)
        params: list[object] = [f"{day}T00:00:00Z" for _, day in bounds]
    else:
        column = f"date_trunc('second', {column})"
        bounds, params = [(SIGNS[operator], operand)], [operand]
    return Statement(
        f"({' AND '.join(f'{column} {sign} %s::timestamptz' for sign, _ in bounds)})", params
    )


def _day(day: str, operator: str) -> list[tuple[str, str]]:
    """Return what comparing with a whole day means, as signs and days of their beginnings."""
    end = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    return {
        "$eq": [(">=", day), ("<", end)],
        "$gt": [(">=", end)],
        "$gte": [(">=", day)],
        "$lt": [("<", day)],
        "$lte": [("<", end)],
    }[operator]


def _metadata(field: str, operator: str, operand: Scalar | tuple[Scalar, ...]) -> Statement:
    """Compare the value, or each of a list's entries, of which one is enough."""
    keys = field.removeprefix(METADATA).split(".")
    path = "$" + "".join(f".{json.dumps(key, ensure_ascii=False)}" for key in keys)
    if operator in PATTERNS:
        return Statement(
            f"EXISTS (SELECT FROM jsonb_path_query({METADATA_SQL}, %s::jsonpath) AS entry (value)"
            " WHERE jsonb_typeof(value) = 'string'"
            f" AND value #>> '{{}}' {LIKE[operator]} %s::text)",
            [f"{path}[*]", operand],
        )
    if operand is None:
        return _exists(f"{path} ? (@ != null)", {}, "NOT ")
    if operator == "$in":
        return _in(path, operand)
    if isinstance(operand, tuple):  # the whole list
        return Statement(
            f"jsonb_path_query_first({METADATA_SQL}, %s::jsonpath) = %s::jsonb",
            [path, json.dumps(operand)],
        )
    test, variables = _test(operator, operand)
    return _exists(f"{path}[*] ? ({test})", variables)


def _in(path: str, operand: Scalar | tuple[Scalar, ...]) -> Statement:
    values = operand if isinstance(operand, tuple) else (operand,)
    days = [str(each) for each in values if is_day(each)]
    tests, variables = ["@ == $values[*]"], {"values": list(values)}
    for number, day in enumerate(days):
        test, own = _test("$eq", day, str(number))
        tests.append(test)
        variables |= own
    return _exists(f"{path}[*] ? ({' || '.join(f'({test})' for test in tests)})", variables)


def _test(operator: str, operand: Scalar, suffix: str = "") -> tuple[str, dict[str, Any]]:
    """Return a test in jsonpath with its variables; a date stands for its whole day."""
    sign = "==" if operator == "$eq" else SIGNS[operator]
    if not is_day(operand):
        return f"@ {sign} $value{suffix}", {f"value{suffix}": operand}
    bounds = _day(str(operand), operator)
    names = ("from", "to")
    variables = {f"{name}{suffix}": day for name, (_, day) in zip(names, bounds, strict=False)}
    parts = [f"@ {sign} ${name}" for name, (sign, _) in zip(variables, bounds, strict=True)]
    return " && ".join(['@ like_regex "^[0-9]{4}(-|$)"', *parts]), variables


def _exists(path: str, variables: dict[str, Any], negation: str = "") -> Statement:
    return Statement(
        f"{negation}jsonb_path_exists({METADATA_SQL}, %s::jsonpath, %s::jsonb, true)",
        [path, json.dumps(variables)],
    )
