"""Server-Sent Events as they come in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Event(NamedTuple):
    """An event: its name, its id, and its data."""

    name: str
    id: str | None
    data: Any


def read(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events of a stream's lines, without its comments."""
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield Event(fields["event"], fields.get("id"), json.loads(fields["data"]))
            fields = {}
