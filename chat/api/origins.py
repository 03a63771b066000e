"""Pages of other sites may call the APIs, with a token that they were given.

Browsers send no cookies along, and show such a page no answer to a request with cookies: a
person's session opens nothing to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

METHODS = "GET, POST, PUT, PATCH, DELETE"
# What scripts may read beside the body: where a run is, when to come back, what the log calls it …
EXPOSED = (
    "Content-Location, Idempotent-Replayed, Location, Retry-After, X-Pagination-Next, X-Request-Id"
)
# How long a browser need not ask again, in seconds.
REMEMBERED = "7200"


def is_preflight(request: HttpRequest) -> bool:
    """Whether a browser asks what a page of another site may send."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def preflight(request: HttpRequest) -> HttpResponse:
    """Return the answer: anything, as nothing is done for it without a token."""
    response = HttpResponse(status=204)
    response.headers["Access-Control-Allow-Methods"] = METHODS
    wanted = request.headers.get("Access-Control-Request-Headers", "Authorization")
    response.headers["Access-Control-Allow-Headers"] = wanted
    response.headers["Access-Control-Max-Age"] = REMEMBERED
    return response


def open_to_all(response: HttpResponseBase) -> None:
    """Let pages of other sites read a response."""
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Access-Control-Expose-Headers"] = EXPOSED
