"""What follows from signing in and from resetting a password, and what of accounts is audited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from allauth.account.signals import password_reset, user_logged_in
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authentication_failed,
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
)
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db.models.signals import post_save
from django.dispatch import receiver

from chat.accounts.models import ApiToken
from retrieval.audit.recording import record

if TYPE_CHECKING:
    from allauth.socialaccount.models import SocialLogin


@receiver(user_logged_in)
def signed_in(user: User, sociallogin: SocialLogin | None = None, **_: Any) -> None:
    """Let groups here follow those at the provider that a person came from."""
    if sociallogin is not None:
        said = sociallogin.account.extra_data
        follow_groups(user, {**said.get("id_token", {}), **said.get("userinfo", {})})


def follow_groups(user: User, claims: dict[str, Any]) -> None:
    """Put a person into the groups that follow the provider's, as `claims` say, or out of them."""
    said = claims.get(settings.OIDC_GROUPS_CLAIM) or []
    there = {said} if isinstance(said, str) else {str(name) for name in said}
    wanted = {ours for theirs, ours in settings.OIDC_GROUPS.items() if theirs in there}
    others = set(settings.OIDC_GROUPS.values()) - wanted
    user.groups.add(*Group.objects.filter(name__in=wanted))
    user.groups.remove(*Group.objects.filter(name__in=others))


@receiver(password_reset)
def address_proved(user: User, **_: Any) -> None:
    """Take an address as confirmed at which the link was received; it could be no other one."""
    addresses = EmailAddress.objects.filter(user=user)
    if user.last_login is None and addresses.count() == 1:
        addresses.update(verified=True, primary=True)


@receiver(authenticator_added)
def factor_added(user: User, authenticator: Authenticator, **_: Any) -> None:
    """Record a new second factor or passkey."""
    record(user, "second_factor.added", user, kind=authenticator.type)


@receiver(authenticator_removed)
def factor_removed(user: User, authenticator: Authenticator, **_: Any) -> None:
    """Record that a second factor or passkey is gone."""
    record(user, "second_factor.removed", user, kind=authenticator.type)


@receiver(authenticator_reset)
def factor_renewed(user: User, authenticator: Authenticator, **_: Any) -> None:
    """Record new recovery codes."""
    record(user, "second_factor.renewed", user, kind=authenticator.type)


@receiver(authentication_failed)
def factor_failed(user: User, **_: Any) -> None:
    """Record a wrong code behind a right password."""
    record(None, "second_factor.failed", user)


@receiver(post_save, sender=ApiToken)
def token_changed(
    instance: ApiToken, created: bool, update_fields: frozenset[str] | None = None, **_: Any
) -> None:
    """Record a new token, and one that is revoked."""
    if created:
        record(None, "token.made", instance, scopes=instance.scopes)
    elif update_fields and "revoked_at" in update_fields:
        record(None, "token.revoked", instance)
