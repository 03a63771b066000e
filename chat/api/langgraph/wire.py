"""What LangGraph's clients read: JSON as it is, and errors as the SDK takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse

from chat.api.streaming import to_json

if TYPE_CHECKING:
    from django.http import HttpRequest

    from chat.api.refusing import Refusal


def json(value: object, status: int = 200) -> HttpResponse:
    """Return a response of JSON."""
    return HttpResponse(to_json(value), status=status, content_type="application/json")


def detail(_: HttpRequest, refusal: Refusal) -> HttpResponse:
    """Return a refusal."""
    return json({"detail": refusal.message}, refusal.status)


def selected(found: dict[str, Any], fields: Sequence[str] | None) -> dict[str, Any]:
    """Return the fields that are named, all if none is; `values.messages` is one within one."""
    if not fields:
        return found
    shown: dict[str, Any] = {}
    for field in fields:
        outer, dot, inner = field.partition(".")
        if not dot and outer in found:
            shown[outer] = found[outer]
        elif isinstance(found.get(outer), dict) and inner in found[outer]:
            shown.setdefault(outer, {})[inner] = found[outer][inner]
    return shown
