"""Rights of people, as conditions in SQL: nothing is asked for while a queryset is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.contrib.auth.models import Group, Permission, User
from django.db.models import Exists, Q

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import ManyToManyField, Model, QuerySet


def is_known(user: User | AnonymousUser) -> bool:
    """Whether somebody has signed in and may still do so; all others are the public."""
    return user.is_authenticated and user.is_active


def named(user: User | AnonymousUser, model: type[Model], people: str, groups: str) -> Q:
    """Return whether an object names a person, or a group of theirs.

    `people` and `groups` are the model's many-to-many fields to users and to groups.
    """
    own = f"{model._meta.model_name}_id"
    to_person = _rows(model, people, user_id=user.pk)
    to_groups = _rows(model, groups, group_id__in=_groups_of(user))
    return Q(pk__in=to_person.values(own)) | Q(pk__in=to_groups.values(own))


def holds(user: User | AnonymousUser, *permissions: str) -> Q:
    """Return whether a person, or a group of theirs, was given one of the permissions.

    Each is named as in `has_perm`, "app.codename". Superusers need not hold any.
    """
    wanted = Q()
    for permission in permissions:
        app, codename = permission.split(".")
        wanted |= Q(content_type__app_label=app, codename=codename)
    to_person = _rows(User, "user_permissions", user_id=user.pk)
    to_groups = _rows(Group, "permissions", group_id__in=_groups_of(user))
    given = Q(pk__in=to_person.values("permission_id")) | Q(
        pk__in=to_groups.values("permission_id")
    )
    return Q(Exists(Permission.objects.filter(wanted, given)))


def _groups_of(user: User | AnonymousUser) -> QuerySet[Any, Any]:
    return _rows(User, "groups", user_id=user.pk).values("group_id")


def _rows(model: type[Model], field: str, **who: Any) -> QuerySet[Any, Any]:
    """Return the rows of a many-to-many field."""
    relation = cast("ManyToManyField[Any, Any]", model._meta.get_field(field))
    through = cast("type[Model]", relation.remote_field.through)
    return through._default_manager.filter(**who)
