"""Accounts in admin: tokens, second factors, addresses, connections, to see and to take away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin, messages
from django.contrib.auth.models import Group, User
from django.utils.translation import gettext, ngettext

from chat.accounts.admin_deleting import PersonAdmin
from chat.accounts.admin_users import RoleAdmin
from chat.accounts.models import ApiToken

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = admin.ModelAdmin

admin.site.unregister([User, Group])
admin.site.register(User, PersonAdmin)
admin.site.register(Group, RoleAdmin)

# Of providers there is one, in the settings; and what is kept of the others is shown below.
for model in (EmailConfirmation, SocialApp, SocialToken):
    if admin.site.is_registered(model):
        admin.site.unregister(model)
for model in (EmailAddress, Authenticator, SocialAccount, UserSession):
    admin.site.unregister(model)


class OwnersAdmin(AnyModelAdmin):
    """What people have by themselves: administrators see it and take it away, and write nothing."""

    list_select_related = ("user",)
    search_fields: ClassVar[tuple[str, ...]] = ("user__username", "user__email")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds these for others."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody changes these of others."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Keep what superusers have from all but superusers."""
        above = obj is not None and obj.user.is_superuser and not request.user.is_superuser
        return not above and super().has_delete_permission(request, obj)


@admin.register(ApiToken)
class ApiTokenAdmin(OwnersAdmin):
    """Tokens of programs; they are revoked, and stay for the record."""

    list_display = ("name", "start", "user", "for_what", "in_state", "expires_at", "last_used_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "expires_at", "last_used_at")
    search_fields = ("name", "start", "user__username", "user__email")
    fields = (
        "user", "name", "start", "for_what", "in_state", "created_at", "expires_at", "revoked_at",
        "last_used_at", "last_address",
    )  # fmt: skip
    actions = ("revoke",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tokens are revoked and not deleted, but with their owner."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Whether somebody may revoke the tokens of others."""
        return request.user.has_perm("accounts.change_apitoken")

    @admin.display(description="good for")
    def for_what(self, token: ApiToken) -> str:
        """Say what a token is good for."""
        return ", ".join(token.scopes)

    @admin.display(description="state")
    def in_state(self, token: ApiToken) -> str:
        """Say whether a token can be used."""
        return token.state

    @admin.action(description="Revoke the selected tokens", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """Make tokens useless; their sockets close at once."""
        tokens = queryset.filter(revoked_at=None)
        for token in tokens:
            token.revoke()
        count = len(tokens)
        said = ngettext("%(count)d token is revoked.", "%(count)d tokens are revoked.", count)
        messages.success(request, said % {"count": count})


@admin.register(Authenticator)
class AuthenticatorAdmin(OwnersAdmin):
    """Second factors and passkeys: removed for who has lost theirs."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    # Not the secret, however it is encrypted.
    fields = ("user", "type", "created_at", "last_used_at")


@admin.register(EmailAddress)
class EmailAddressAdmin(AnyModelAdmin):
    """Addresses by which people sign in and get mail."""

    list_display = ("email", "user", "primary", "verified")
    list_filter = ("primary", "verified")
    list_select_related = ("user",)
    search_fields = ("email", "user__username")
    autocomplete_fields = ("user",)


@admin.register(SocialAccount)
class SocialAccountAdmin(OwnersAdmin):
    """Accounts at the provider of OpenID Connect that are connected with ours."""

    list_display = ("user", "provider", "uid", "date_joined", "last_login")
    fields = ("user", "provider", "uid", "date_joined", "last_login")


@admin.register(UserSession)
class UserSessionAdmin(OwnersAdmin):
    """Where people are signed in; deleting one signs it out."""

    list_display = ("user", "ip", "user_agent", "created_at", "last_seen_at")
    fields = ("user", "ip", "user_agent", "created_at", "last_seen_at")
    search_fields = ("user__username", "ip")

    def delete_model(self, request: HttpRequest, obj: UserSession) -> None:
        """Sign one session out."""
        obj.end()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[UserSession]) -> None:
        """Sign sessions out."""
        for session in queryset:
            session.end()
        messages.success(request, gettext("They are signed out."))
