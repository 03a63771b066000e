"""Accounts in the admin: Django's own pages, without guests, and with superusers out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q

from chat.accounts.models import Guest
from chat.accounts.roles import ADMINISTRATORS, ROLES

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    # Generic for type checkers only.
    AnyUserAdmin = UserAdmin[User]
else:
    AnyUserAdmin = UserAdmin


class GuestFilter(admin.SimpleListFilter):
    """Guests, who are not in the list otherwise."""

    title = "guests"
    parameter_name = "guests"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer to list them."""
        return [("only", "Guests only")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep guests, if they are asked for."""
        return queryset.filter(pk__in=_guests()) if self.value() else queryset


class AccountAdmin(AnyUserAdmin):
    """Accounts; only superusers change superusers, and make others so."""

    list_filter = (*AnyUserAdmin.list_filter, GuestFilter)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Leave out guests, where the list does not ask for them."""
        found = super().get_queryset(request)
        asked = GuestFilter.parameter_name in request.GET
        return found if asked else found.exclude(pk__in=_guests())

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Keep superusers' accounts from all but superusers."""
        return _may(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Keep superusers' accounts from all but superusers."""
        return _may(request, obj) and super().has_delete_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Let only superusers say who is one."""
        fixed = super().get_readonly_fields(request, obj)
        return fixed if request.user.is_superuser else (*fixed, "is_superuser")

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer what whoever asks may give."""
        given = Q(user=_shown(request))
        if db_field.name == "user_permissions":
            kwargs["queryset"] = _permissions(request, given)
        elif db_field.name == "groups":
            kwargs["queryset"] = _groups(request, given)
        return super().formfield_for_manytomany(db_field, request, **kwargs)


class RoleAdmin(GroupAdmin):
    """Groups, the site's roles among them."""

    def formfield_for_manytomany(
        self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any
    ) -> Any:
        """Offer what whoever asks may give."""
        if request and db_field.name == "permissions":
            kwargs["queryset"] = _permissions(request, Q(group=_shown(request)))
        return super().formfield_for_manytomany(db_field, request, **kwargs)


def _guests() -> QuerySet[Guest, Any]:
    return Guest.objects.values("pk")


def _may(request: HttpRequest, account: User | None) -> bool:
    return request.user.is_superuser or account is None or not account.is_superuser


def _shown(request: HttpRequest) -> str | None:
    """Return the key of what the page is of."""
    match = request.resolver_match
    return match.kwargs.get("object_id") if match else None


def _permissions(request: HttpRequest, given: Q) -> QuerySet[Permission]:
    """Return what may be given: to all but superusers what the administrators' role has.

    What a superuser gave beside that can be kept, and taken away.
    """
    found = Permission.objects.select_related("content_type")
    if request.user.is_superuser:
        return found
    return found.filter(ROLES[ADMINISTRATORS] | given).distinct()


def _groups(request: HttpRequest, given: Q) -> QuerySet[Group]:
    """Return the groups one may be put into, by the same rule."""
    if request.user.is_superuser:
        return Group.objects.all()
    beyond = Group.objects.filter(permissions__in=Permission.objects.exclude(ROLES[ADMINISTRATORS]))
    return Group.objects.filter(~Q(pk__in=beyond.values("pk")) | given).distinct()
