"""Whether the site is there, and who calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext
from ninja import Router

from chat.api.r2r import shapes, signing_in, wire
from chat.api.r2r.signing_in import Pair, SignedIn
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from chat.api.credentials import Request

router = Router()


@router.get("health", auth=None)
def health(request: HttpRequest) -> HttpResponse:
    """Say that the site is there."""
    return wire.results({"message": "ok"})


@router.post("users/login", auth=None)
def login(request: HttpRequest) -> HttpResponse:
    """Sign in with name and password, whatever token is sent with it."""
    return wire.results(_tokens(signing_in.sign_in(request, request.POST)))


@router.post("users/refresh-token", auth=None)
def refresh_token(request: HttpRequest) -> HttpResponse:
    """Return new tokens for a refresh token, which is the whole body."""
    said = wire.loads("body", request.body)
    if not isinstance(said, str):
        wire.refuse("body", gettext("must be the refresh token, as a JSON string"))
    return wire.results(_tokens(signing_in.refresh(said)))


@router.post("users/logout", auth=SignedIn())
def logout(request: Request) -> HttpResponse:
    """End the sign-in that the token is of."""
    if request.token is not None:
        signing_in.sign_out(request.token)
    return wire.results({"message": "Logged out."})


@router.get("users/me", auth=SignedIn())
def me(request: Request) -> HttpResponse:
    """Return the account of whoever calls."""
    visible = Collection.objects.visible_to(request.user)
    return wire.results(shapes.user(request.user, list(visible.values_list("pk", flat=True))))


def _tokens(pair: Pair) -> dict[str, Any]:
    return {
        "access_token": {"token": pair.access, "token_type": "access"},
        "refresh_token": {"token": pair.refresh, "token_type": "refresh"},
    }
