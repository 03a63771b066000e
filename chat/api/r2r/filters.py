"""R2R's filters as ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retrieval.search.filter_values import FilterError
from retrieval.search.filters import ALIASES, FIELDS, JUNCTIONS, MAX_DEPTH, METADATA

# What R2R calls otherwise. Of a list one entry is enough for `$in`, as for `$overlap`.
OPERATORS = {"$ne": "$neq", "$overlap": "$in"}
# It holds if all entries are there: each of them is looked for.
CONTAINS = "$contains"
OWNER = "owner_id"


def translated(data: object, depth: int = 1) -> object:
    """Return a filter of R2R as JSON that `filters.parse` takes, or refuses as what it is.

    Fields that documents do not have are keys of their metadata. Raises FilterError.
    """
    if not isinstance(data, dict) or depth > MAX_DEPTH:
        return data
    together: dict[str, Any] = {}
    beside: list[dict[str, Any]] = []
    for key, value in data.items():
        for name, condition in _conditions(key, value, depth):
            if name in together:
                beside.append({name: condition})
            else:
                together[name] = condition
    if not beside:
        return together
    return {"$and": [together, *beside]}


def _conditions(key: str, value: object, depth: int) -> Iterator[tuple[str, object]]:
    if key in JUNCTIONS:
        if isinstance(value, dict):
            value = [{each: value[each]} for each in value]
        if isinstance(value, list):
            value = [translated(part, depth + 1) for part in value]
        yield key, value
        return
    name = _field(key)
    if not isinstance(value, dict):
        yield name, value
        return
    plain = {OPERATORS.get(each, each): value[each] for each in value if each != CONTAINS}
    if plain or not value:
        yield name, plain
    if CONTAINS in value:
        wanted = value[CONTAINS]
        for each in wanted if isinstance(wanted, list) else [wanted]:
            yield name, {"$eq": each}


def _field(key: str) -> str:
    if key == OWNER:
        raise FilterError((OWNER,), "is nothing to filter by here")
    known = key in FIELDS or key in ALIASES or key.startswith((METADATA, "$"))
    return key if known else METADATA + key
