"""Every address of the site, as the URL configuration has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

# `<uuid:name>` of a path, or `(?P<name>…)` of a regular expression.
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


APIS = ("api/", "r2r/", "langgraph/", "openai/")


class Door(NamedTuple):
    """A way in: its name, with namespaces, and the parameters of its address."""

    name: str
    route: str

    @property
    def parameters(self) -> list[str]:
        """The names of what its address holds."""
        return PARAMETER.findall(self.route)


def doors() -> list[Door]:
    """Return all doors, sorted by name, each route once.

    An address of an API has a name for each of its methods, of which one stands for all.
    """
    found = set(_walk(get_resolver()))
    # The same addresses once more, for a client that begins them with two slashes.
    every = sorted(door for door in found if door.name != "r2r:two_slashes")
    of_apis = {door.route: door for door in every if door.route.startswith(APIS)}
    return [door for door in every if of_apis.get(door.route, door) is door]


def _walk(resolver: URLResolver, route: str = "", spaces: tuple[str, ...] = ()) -> Iterator[Door]:
    for pattern in resolver.url_patterns:
        below = route + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = (*spaces, pattern.namespace) if pattern.namespace else spaces
            yield from _walk(pattern, below, inner)
        elif isinstance(pattern, URLPattern):
            yield Door(":".join((*spaces, pattern.name or below)), below)
