"""Pages of a person's account, beside those of allauth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailAddress
from allauth.account.views import password_reset
from allauth.mfa.models import Authenticator
from allauth.socialaccount.providers.openid_connect.views import login as openid_connect
from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from chat.accounts import tokens
from chat.accounts.models import ApiToken
from chat.accounts.token_form import TokenForm

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponseBase

    class MemberRequest(HttpRequest):
        """A request of someone signed in."""

        user: User


def reset_password(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    """Send a link by which a password is set anew, or say whom to ask where no mail is sent."""
    if not settings.EMAIL_URL:
        return render(request, "account/password_reset.html")
    response: HttpResponseBase = password_reset(request, *args, **kwargs)
    return response


def single_sign_on(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Lead to the provider, from this site's pages only: no other site signs people in here."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        return redirect("login")
    response: HttpResponseBase = openid_connect(request, provider_id)
    return response


@require_POST
@login_required
def end_session(request: MemberRequest, pk: int) -> HttpResponseBase:
    """Sign out one of a person's own sessions, and its open sockets."""
    session = get_object_or_404(UserSession, pk=pk, user=request.user)
    end_sessions(request, [session])
    messages.success(request, gettext("That session is signed out."))
    return redirect("usersessions_list")


@require_safe
@login_required
def overview(request: MemberRequest) -> HttpResponseBase:
    """Show what there is in a person's account, each with the way to its page."""
    user = request.user
    context = {
        "address": EmailAddress.objects.get_primary(user),
        "factors": Authenticator.objects.filter(user=user).exclude(type="recovery_codes"),
        "session_count": UserSession.objects.filter(user=user).count(),
        "token_count": ApiToken.objects.in_force().filter(user=user).count(),
    }
    return render(request, "accounts/overview.html", context)


@require_safe
@login_required
def token_list(request: MemberRequest) -> HttpResponseBase:
    """List a person's tokens, those in force first."""
    found = sorted(
        ApiToken.objects.filter(user=request.user), key=lambda token: token.state != "in force"
    )
    return render(request, "accounts/tokens.html", {"tokens": found})


@never_cache
@login_required
@reauthentication_required(app="chat.accounts")  # type: ignore[untyped-decorator]
def make_token(request: MemberRequest) -> HttpResponseBase:
    """Offer the form of a new token, then show the token this once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return render(request, "accounts/make_token.html", {"form": form})
    data = form.cleaned_data
    token, raw = tokens.make(request.user, data["name"], data["scopes"], form.expires_at())
    return render(request, "accounts/token_made.html", {"token": token, "raw": raw})


@require_POST
@login_required
def revoke_token(request: MemberRequest, pk: int) -> HttpResponseBase:
    """Revoke one of a person's own tokens; its sockets close at once."""
    get_object_or_404(ApiToken, pk=pk, user=request.user).revoke()
    messages.success(request, gettext("The token is revoked."))
    return redirect("accounts:tokens")
