"""Errors as problem details (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse

from chat.api.streaming import to_json

if TYPE_CHECKING:
    from django.http import HttpRequest

    from chat.api.refusing import Refusal

CONTENT_TYPE = "application/problem+json"


def problem(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """Return a refusal as a problem."""
    details: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(refusal.status).phrase,
        "status": refusal.status,
        "detail": refusal.message,
        "code": refusal.code,
        "request_id": getattr(request, "request_id", ""),
    }
    if refusal.errors:
        details["errors"] = [
            {"pointer": pointer(each["loc"]), "loc": each["loc"], "detail": each["message"]}
            for each in refusal.errors
        ]
    return HttpResponse(to_json(details), status=refusal.status, content_type=CONTENT_TYPE)


def pointer(loc: list[str | int]) -> str:
    """Return where a field stands in the body, as RFC 6901 has it, or in which part beside it."""
    where, *rest = loc or [""]
    path = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in rest)
    return f"#{path}" if where == "body" else f"{where}{path}"
