"""Who calls: a program with a token, or a page of the site with its session."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from allauth.account.adapter import get_adapter
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from chat.accounts import tokens
from chat.accounts.bearer import sign_in
from retrieval.ingestion.upload_limits import LimitedUploadHandler

if TYPE_CHECKING:
    from chat.accounts.models import ApiToken, Scope

UNSAFE = {"POST", "PUT", "PATCH", "DELETE"}


class Request(HttpRequest):
    """A request of somebody who is known; `token` is None where a session says who."""

    user: User
    token: ApiToken | None
    request_id: str


class NotSignedInError(Exception):
    """Nobody calls, or with a token that is not in force; the text is for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotAllowedError(Exception):
    """Whoever calls may not do this; the text is for people."""

    def __init__(self, message: str, code: str = "not_allowed") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class ScopeError(NotAllowedError):
    """The token is not good for this."""

    def __init__(self, scope: Scope) -> None:
        message = gettext("This token lacks the scope %(scope)s.") % {"scope": scope.value}
        super().__init__(message, "missing_scope")


class Caller(AuthBase):
    """Signs in who calls an operation: by a token with all of `scopes`, or else by the session.

    Sessions count where `sessions` says so, and need the CSRF token in the header `X-CSRFToken`
    for what changes something. Then `request.user` is who calls, and `request.token` the token,
    None without one. Raises NotSignedInError, NotAllowedError.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, *scopes: Scope, sessions: bool = False) -> None:
        super().__init__()
        self.scopes = scopes
        self.sessions = sessions

    def __call__(self, request: HttpRequest) -> User:
        """Return who calls."""
        raw = given_token(request)
        if raw is not None:
            by_token(request, raw, *self.scopes)
        elif self.sessions:
            by_session(request)
        else:
            raise NotSignedInError(gettext("Send an API token."))
        return cast("User", request.user)


def given_token(request: HttpRequest) -> str | None:
    """Return what is sent as a token, in force or not; None if nothing is."""
    scheme, _, raw = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return raw.strip()
    return request.headers.get("X-API-Key")


def by_token(request: HttpRequest, raw: str, *scopes: Scope) -> None:
    """Let a request be of the token's user. Raises NotSignedInError, ScopeError."""
    token = tokens.authenticate(raw, get_adapter().get_client_ip(request))
    if token is None:
        raise NotSignedInError(gettext("This token is not in force."))
    for scope in scopes:
        if scope not in token.scopes:
            raise ScopeError(scope)
    sign_in(request, token)


def by_session(request: HttpRequest) -> None:
    """Make sure that a page of the site sends this. Raises NotSignedInError, NotAllowedError."""
    if not request.user.is_authenticated:
        raise NotSignedInError(gettext("Send an API token, or sign in."))
    if request.method in UNSAFE:
        if request.content_type == "multipart/form-data":
            # Looking for the CSRF token reads the body.
            request.upload_handlers = [LimitedUploadHandler(request)]
        if check_csrf(request) is not None:
            message = gettext("The header X-CSRFToken is missing, or not of this session.")
            raise NotAllowedError(message, "csrf")
