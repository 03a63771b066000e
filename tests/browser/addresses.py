"""The addresses of the site's pages, found rather than listed."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver, reverse

# Those end what the others need.
ENDS = ("logout", "healthz", "metrics")


def pages() -> list[str]:
    """Return the addresses that need no argument, but those that sign out."""
    found = without_argument(get_resolver().url_patterns)
    return [*dict.fromkeys(page for page in found if not any(end in page for end in ENDS))]


def without_argument(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    """Yield the addresses of patterns that need no argument."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from without_argument(pattern.url_patterns, route)
        elif not any(character in route for character in "<(^\\"):
            yield f"/{route}"


def of_objects() -> Iterator[str]:
    """Yield the administration's page of one object of each kind."""
    for model in admin.site._registry:
        found = model._default_manager.first()
        if found is None:
            continue
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_change", args=[found.pk])
