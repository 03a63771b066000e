"""The R2R dialect as addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.urls import re_path, resolve
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from chat.api.r2r import chunks, collections, conversations, documents, retrieval, users
from chat.api.r2r.wire import detail

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

__all__ = ["api", "detail", "two_slashes"]

api = NinjaAPI(title="R2R dialect", urls_namespace="r2r", docs_url=None, openapi_url=None)
for part in (users, documents, chunks, collections, conversations, retrieval):
    api.add_router("/v3/", part.router)


async def _again(request: HttpRequest, rest: str) -> HttpResponseBase:
    """Answer at an address with two slashes, as of a base URL with a slash at its end."""
    found = resolve(request.path_info.removesuffix(f"/{rest}") + rest)
    view = found.func
    if not iscoroutinefunction(view):
        view = sync_to_async(view, thread_sensitive=True)
    response: Any = await view(request, *found.args, **found.kwargs)
    return response  # type: ignore[no-any-return]


two_slashes = re_path(r"^[/](?P<rest>v3/.*)$", csrf_exempt(_again), name="two_slashes")
