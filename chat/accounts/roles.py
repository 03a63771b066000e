"""The roles that come with the site: groups with permissions, which administrators may change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.db import connections
from django.db.models import Case, Max, Q, When
from django.db.models.signals import post_migrate, pre_migrate

if TYPE_CHECKING:
    from django.apps import AppConfig

COLLECTION_MANAGERS = "Collection managers"
REVIEWERS = "Reviewers"
ADMINISTRATORS = "Administrators"


def _of(app: str, *codenames: str) -> Q:
    return Q(content_type__app_label=app, codename__in=codenames)


# What a permission is to be, for a role to have it. Of how people sign in administrators take away
# what somebody lost; whoever adds or changes it may become anybody, and that is for superusers.
ROLES = {
    COLLECTION_MANAGERS: _of(
        "retrieval", "view_collection", "change_collection", "view_document", "add_document",
        "change_document", "delete_document", "view_chunk",
    ),
    REVIEWERS: _of("chat", "view_conversation"),
    ADMINISTRATORS: (
        Q(content_type__app_label__in=["retrieval", "limits", "chat", "accounts"])
        | Q(content_type__app_label="auth", content_type__model__in=["user", "group"])
        | _of("audit", "view_auditevent")
        | _of("mfa", "view_authenticator", "delete_authenticator")
        | _of("usersessions", "view_usersession", "delete_usersession")
        | _of("socialaccount", "view_socialaccount", "delete_socialaccount")
        | _of("account", "view_emailaddress")
    ),
}  # fmt: skip

# The newest permission there was before migrating, by database.
_known: dict[str, int] = {}


def connect() -> None:
    """Make the roles whenever the last of the apps has its permissions."""
    last = [*apps.get_app_configs()][-1]
    pre_migrate.connect(remember, sender=last, dispatch_uid="roles_remember")
    post_migrate.connect(make, sender=last, dispatch_uid="roles_make")


def remember(sender: AppConfig, using: str, **_: Any) -> None:
    """Note which permissions there are, so that those that follow can be told apart."""
    _known[using] = 0
    if Permission._meta.db_table in connections[using].introspection.table_names():
        newest = Permission.objects.using(using).aggregate(newest=Max("pk"))["newest"]
        _known[using] = newest or 0


def make(sender: AppConfig, using: str, **_: Any) -> None:
    """Make the groups that are missing, and give all of them the permissions that are new.

    What an administrator gave a group, or took from it, stays so.
    """
    groups = Group.objects.using(using)
    there = dict(groups.filter(name__in=ROLES).values_list("name", "pk"))
    made = groups.bulk_create([Group(name=name) for name in ROLES if name not in there])
    keys = there | {group.name: group.pk for group in made}
    known = _known.get(using, 0)
    found = Permission.objects.using(using).filter(pk__gt=0 if made else known)
    flags = [Case(When(wanted, then=True), default=False) for wanted in ROLES.values()]
    through = Group.permissions.through
    rows = [
        through(group_id=keys[name], permission_id=permission)
        for permission, *wanted in found.order_by().values_list("pk", *flags)
        for name, is_wanted in zip(ROLES, wanted, strict=True)
        if is_wanted and (name not in there or permission > known)
    ]
    through._default_manager.using(using).bulk_create(rows, ignore_conflicts=True)
