"""What follows from signing in, and from resetting a password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from allauth.account.signals import password_reset, user_logged_in
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.dispatch import receiver

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
