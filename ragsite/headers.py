"""Headers of every response that no package of the site sets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers


class PrivateByDefaultMiddleware:
    """Keeps responses out of shared caches and other sites, unless a view says otherwise."""

    sync_capable = async_capable = True

    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
    ) -> None:
        self.get_response: Callable[[HttpRequest], Any] = get_response
        self.asynchronous = iscoroutinefunction(get_response)
        if self.asynchronous:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Answer with what the view answers, and these headers."""
        if self.asynchronous:
            return self.later(request)
        return headed(request, self.get_response(request))

    async def later(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the same, in a coroutine."""
        return headed(request, await self.get_response(request))


def headed(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return a response with the headers that it has not set itself."""
    # Also of redirects and errors: what is behind an address, and for whom, is nobody else's.
    if "Cache-Control" not in response.headers:
        response.headers["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["Cookie"])
    response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    if hasattr(request, "signed_out") and request.is_secure():
        # Files may lie in the cache, to be asked for again; cookies are left to the views.
        response.headers["Clear-Site-Data"] = '"cache"'
    return response


@receiver(user_logged_out, dispatch_uid="ragsite.headers.signed_out")
def signed_out(sender: Any, request: HttpRequest | None, **_: Any) -> None:
    """Remember that somebody signs out with this request."""
    if request is not None:
        request.signed_out = True  # type: ignore[attr-defined]
