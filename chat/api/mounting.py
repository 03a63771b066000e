"""An API at its place among the addresses: whatever is asked below it is answered in its shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from asgiref.sync import iscoroutinefunction
from django.http import Http404
from django.urls import URLPattern, include, path, re_path
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from structlog.contextvars import bound_contextvars

from chat.api.origins import is_preflight, open_to_all, preflight
from chat.api.refusing import Refusal, install, refusal, shaped

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase
    from django.urls import URLResolver
    from ninja import NinjaAPI

    from chat.api.refusing import Shape

    View = Callable[..., Any]

REQUEST_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)


def mount(prefix: str, api: NinjaAPI, shape: Shape, *more: URLPattern) -> URLResolver:
    """Return an API's addresses below `prefix`, and the one for all others there.

    `more` are addresses of the API that it does not make itself. Each response has the header
    `X-Request-Id`, by which the log knows it: the caller's own, if that is sent.
    """
    install(api, shape)
    patterns, app_name, namespace = api.urls
    every = [*patterns, *more, re_path("", csrf_exempt(nowhere), name="nowhere")]
    for pattern in every:
        view: Any = pattern.callback
        pattern.callback = within(shape, view)
    return path(prefix, include((every, app_name), namespace=namespace))


def nowhere(request: HttpRequest, **_: Any) -> HttpResponse:
    """Say that there is nothing: no address of the site may answer, or be led to, instead."""
    raise Http404


def within(shape: Shape, view: View) -> View:
    """Return a view that answers errors, too, as its API does, and names its requests."""
    if iscoroutinefunction(view):

        @wraps(view)
        async def async_view(request: HttpRequest, **values: Any) -> HttpResponseBase:
            with bound_contextvars(request=name(request)):
                try:
                    response = (
                        preflight(request)
                        if is_preflight(request)
                        else await view(request, **values)
                    )
                except Http404 as error:
                    response = shaped(shape, request, refusal(error))
                return finished(shape, request, response)

        return async_view

    @wraps(view)
    def sync_view(request: HttpRequest, **values: Any) -> HttpResponseBase:
        with bound_contextvars(request=name(request)):
            try:
                response = preflight(request) if is_preflight(request) else view(request, **values)
            except Http404 as error:
                response = shaped(shape, request, refusal(error))
            return finished(shape, request, response)

    return sync_view


def name(request: HttpRequest) -> str:
    """Return the request's id, its caller's own if that is a plain one, and remember it."""
    said = request.headers.get("X-Request-Id", "")
    request_id = said if REQUEST_ID.fullmatch(said) else uuid4().hex
    request.request_id = request_id  # type: ignore[attr-defined]
    return request_id


def finished(shape: Shape, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return a response with the request's id; one to a wrong method in the API's shape."""
    if response.status_code == 405:
        allowed = {"Allow": response.headers.get("Allow", "")}
        message = gettext("This method is not for this address.")
        response = shaped(shape, request, Refusal(405, "method_not_allowed", message, allowed))
    response.headers.setdefault("X-Request-Id", request.request_id)  # type: ignore[attr-defined]
    open_to_all(response)
    return response
