"""Signing in with a password, as programs do that know R2R: it gives tokens that end soon.

All that limits guessing on the page limits it here, too: the form is the same, and so are counts.
"""

from __future__ import annotations

from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from allauth.account.models import EmailAddress
from allauth.account.utils import has_verified_email
from allauth.core import ratelimit
from allauth.mfa.utils import is_mfa_enabled
from django.utils import timezone
from django.utils.translation import gettext
from ninja.errors import HttpError

from chat.accounts import tokens
from chat.accounts.forms import LoginForm
from chat.accounts.models import ApiToken, Scope
from chat.api.credentials import Caller, NotAllowedError, NotSignedInError
from retrieval.audit.recording import record

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, QueryDict

ACCESS = timedelta(hours=1)
REFRESH = timedelta(days=7)
# What both tokens of one sign-in are named, before what tells it from others.
NAME = "Sign-in by R2R"
# The only scope of a token that is good for nothing but new ones, while the password is the same.
REFRESHES = "refresh:"


class Pair(NamedTuple):
    """The tokens of a sign-in: one for an hour of requests, and one for the next pair."""

    access: str
    refresh: str


class SignedIn(Caller):
    """Whoever calls, whatever their token is good for, but for getting a new one."""

    def __call__(self, request: HttpRequest) -> User:
        """Return who calls. Raises NotSignedInError."""
        user = super().__call__(request)
        if _refreshes(request.token):  # type: ignore[attr-defined]
            raise NotSignedInError(gettext("This token is only for refreshing."))
        return user


def sign_in(request: HttpRequest, said: QueryDict) -> Pair:
    """Return tokens for a right name and password.

    Raises NotSignedInError, NotAllowedError, HttpError for one try too many.
    """
    if not ratelimit.consume(request, action="login"):
        raise _too_many(gettext("Too many requests. Try again later."))
    form = LoginForm(said, request=request)
    if not form.is_valid():
        (error, *_), *_ = form.errors.as_data().values()
        if error.code == "too_many_login_attempts":
            raise _too_many(" ".join(error.messages))
        raise NotSignedInError(" ".join(error.messages))
    user: User = form.user
    _check(user)
    record(user, "login.succeeded", user, request=request)
    _forget_expired(user)
    return _make(user)


def refresh(raw: str) -> Pair:
    """Return new tokens for a refresh token, which has been used with that.

    Raises NotSignedInError.
    """
    token = tokens.authenticate(raw)
    if token is None or not _refreshes(token) or token.scopes != [_proof(token.user)]:
        raise NotSignedInError(gettext("This token is not in force. Sign in again."))
    sign_out(token)
    return _make(token.user)


def sign_out(token: ApiToken) -> None:
    """Revoke both tokens of a sign-in; one that a person made stays."""
    if token.name.startswith(NAME):
        for each in ApiToken.objects.in_force().filter(user=token.user, name=token.name):
            each.revoke()


def _make(user: User) -> Pair:
    name, now = f"{NAME} {token_hex(4)}", timezone.now()
    _, access = tokens.make(user, name, Scope.values, now + ACCESS)
    _, again = tokens.make(user, name, [_proof(user)], now + REFRESH)
    return Pair(access, again)


def _check(user: User) -> None:
    """Raise NotAllowedError for those of whom the page would ask for more than a password."""
    if is_mfa_enabled(user):
        raise NotAllowedError(
            gettext(
                "This account has a second factor, which cannot be asked for here. Make an API"
                " token on the site, and use that as the API key."
            ),
            "second_factor",
        )
    unconfirmed = EmailAddress.objects.filter(user=user).exists() and not has_verified_email(user)
    if unconfirmed and user.last_login is None:
        raise NotAllowedError(
            gettext("Confirm your e-mail address first: sign in on the site."), "unconfirmed"
        )


def _proof(user: User) -> str:
    """Return the scope of a refresh token, which is another when the password changes."""
    return REFRESHES + user.get_session_auth_hash()[:24]


def _refreshes(token: ApiToken) -> bool:
    return any(scope.startswith(REFRESHES) for scope in token.scopes)


def _forget_expired(user: User) -> None:
    ended = {"name__startswith": NAME, "expires_at__lt": timezone.now()}
    ApiToken.objects.filter(user=user, **ended).delete()


def _too_many(message: str) -> HttpError:
    return HttpError(429, message)
