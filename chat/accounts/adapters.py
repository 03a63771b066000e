"""Who may have an account, by sign-up or by a provider of OpenID Connect."""

from __future__ import annotations

import unicodedata
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.userkit import filter_users_by_email, get_user_by_username
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.models import User

from chat.accounts.models import GUEST_PREFIX

if TYPE_CHECKING:
    from allauth.socialaccount.models import SocialLogin
    from django.http import HttpRequest, HttpResponse


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts with a password."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether people may make accounts for themselves."""
        return bool(settings.SIGN_UP)

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Return the username. Raises ValidationError if it looks like a guest's."""
        if username.lower().startswith(GUEST_PREFIX):
            raise self.validation_error("username_blacklisted")
        return str(super().clean_username(username, shallow))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count attempts by account, whatever name or host it is reached by.

        Allauth's own key has the Host header in it, which whoever guesses chooses.
        """
        typed = str(credentials.get("username") or credentials.get("email") or "")
        user = _meant_by(typed)
        if user is not None:
            return f"account:{user.pk}"
        name = unicodedata.normalize("NFKC", typed).strip().casefold()
        return f"name:{sha256(name.encode()).hexdigest()}"

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send mail whose links lead to PUBLIC_URL, if there is one, and not to a Host header."""
        public = urlsplit(settings.PUBLIC_URL)
        if public.netloc:
            links = {
                name: urlsplit(value)._replace(scheme=public.scheme, netloc=public.netloc).geturl()
                for name, value in context.items()
                if name.endswith("_url") and value
            }
            site = {"domain": public.netloc, "name": public.netloc}
            context = {**context, **links, "current_site": site}
        super().send_mail(template_prefix, email, context)

    def get_login_stages(self) -> list[str]:
        """Return allauth's steps of signing in, with ours in place of its confirmation."""
        ours = f"{ConfirmAddressStage.__module__}.{ConfirmAddressStage.__name__}"
        stages = super().get_login_stages()
        return [ours if name.endswith(".EmailVerificationStage") else name for name in stages]


def _meant_by(typed: str) -> User | None:
    """Return the account that a username or an address is of, as signing in finds it."""
    user: User | None = get_user_by_username(typed)
    if user is None and "@" in typed:
        found = filter_users_by_email(typed, prefer_verified=True, for_login=True)
        user = min(found, key=lambda each: each.pk, default=None)
    return user


class ConfirmAddressStage(EmailVerificationStage):  # type: ignore[misc]
    """Has those confirm their address who signed up by themselves.

    Nobody confirms the address of an account that an administrator made.
    """

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Return the page that says to look for mail, if there is something to confirm."""
        user: User | None = self.login.user
        if user is not None and not self.login.signup:
            by_administrator = not EmailAddress.objects.filter(user=user).exists()
            if by_administrator or user.last_login is not None:
                return None, True
            self.login.email = None
        response: tuple[HttpResponse | None, bool] = super().handle()
        return response


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Accounts of those whom a provider of OpenID Connect knows."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Whether somebody whom the provider sends for the first time gets an account."""
        confirmed = [one.email for one in sociallogin.email_addresses if one.verified]
        return bool(settings.OIDC_SIGN_UP) and (
            not settings.SIGN_UP_DOMAINS or any(map(is_of_domains, confirmed))
        )

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: Any) -> User:
        """Fill in a new account; a name that only guests have is not taken over."""
        if str(data.get("username") or "").lower().startswith(GUEST_PREFIX):
            data = {**data, "username": ""}
        user: User = super().populate_user(request, sociallogin, data)
        return user


def is_of_domains(email: str) -> bool:
    """Whether an address is of a domain that may sign up, which all are if none is named."""
    domain = email.rpartition("@")[2].lower()
    return not settings.SIGN_UP_DOMAINS or domain in settings.SIGN_UP_DOMAINS
