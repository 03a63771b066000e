"""Every address of the site, as the URL configuration has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

# `<uuid:name>` of a path, or `(?P<name>…)` of a regular expression.
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


class Door(NamedTuple):
    """A way in: its name, with namespaces, and the parameters of its address."""

    name: str
    route: str

    @property
    def parameters(self) -> list[str]:
        """The names of what its address holds."""
        return PARAMETER.findall(self.route)


def doors() -> list[Door]:
    """Return all doors, sorted by name, each route once."""
    return sorted(set(_walk(get_resolver())))


def _walk(resolver: URLResolver, route: str = "", spaces: tuple[str, ...] = ()) -> Iterator[Door]:
    for pattern in resolver.url_patterns:
        below = route + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = (*spaces, pattern.namespace) if pattern.namespace else spaces
            yield from _walk(pattern, below, inner)
        elif isinstance(pattern, URLPattern):
            yield Door(":".join((*spaces, pattern.name or below)), below)
