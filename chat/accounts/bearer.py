"""Requests of programs, which sign in by a token: open are only the views that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from allauth.account.adapter import get_adapter
from django.http import JsonResponse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from chat.accounts import tokens
from chat.accounts.models import ApiToken, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.http import HttpRequest

View = TypeVar("View", bound="Callable[..., Any]")

# Where the APIs are (chat/api/urls.py): they sign in who calls by themselves, each with errors in
# its own shape.
MOUNTS = ("/api/v1/", "/r2r/", "/langgraph/", "/openai/v1/")


def open_to_tokens(scope: Scope) -> Callable[[View], View]:
    """Let programs use a view whose token has `scope`; no other view takes a token."""

    def mark(view: View) -> View:
        view.token_scope = scope  # type: ignore[attr-defined]
        return view

    return mark


class TokenMiddleware(MiddlewareMixin):
    """Signs in a request by `Authorization: Bearer rs_…` in place of the session.

    A token is sent by a program on purpose, never by a browser on its own, so no CSRF token is
    needed beside it. `request.token` is the token, None without one.
    """

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], *_: Any
    ) -> JsonResponse | None:
        """Refuse a token that is not in force, or not good for this view."""
        request.token = None  # type: ignore[attr-defined]
        if request.path_info.startswith(MOUNTS):
            return None
        raw = tokens.from_header(request.headers.get("Authorization", ""))
        if raw is None:
            return None
        token = tokens.authenticate(raw, get_adapter().get_client_ip(request))
        if token is None:
            refused = JsonResponse({"error": gettext("This token is not in force.")}, status=401)
            refused["WWW-Authenticate"] = 'Bearer error="invalid_token"'
            return refused
        scope: Scope | None = getattr(view, "token_scope", None)
        if scope is None:
            return JsonResponse({"error": gettext("Tokens cannot be used here.")}, status=403)
        if scope not in token.scopes:
            message = gettext("This token lacks the scope %(scope)s.") % {"scope": scope.value}
            return JsonResponse({"error": message}, status=403)
        sign_in(request, token)
        return None


def sign_in(request: HttpRequest, token: ApiToken) -> None:
    """Answer a request as of the token's user, whatever its session says."""
    user = token.user

    async def auser() -> User:
        return user

    request.user = user
    request.auser = auser
    request.token = token  # type: ignore[attr-defined]
    request.csrf_processing_done = True  # type: ignore[attr-defined]
