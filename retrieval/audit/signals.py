"""What is recorded wherever it is done: signing in, rights, changes in admin, deletions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Q
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.dispatch import receiver

from retrieval.audit.recording import Target, described, owned_by, record
from retrieval.audit.removing import forget_person

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest

# Models of whose objects every deletion is recorded, and every change of what they are connected
# with, by their labels.
watched: set[str] = set()
# What a person may is told by these.
RIGHTS = ("is_active", "is_staff", "is_superuser")
ADMIN = {ADDITION: "admin.added", CHANGE: "admin.changed", DELETION: "admin.deleted"}
M2M = {"post_add": "added", "post_remove": "removed", "pre_clear": "cleared"}


@receiver(user_logged_in)
def logged_in(user: User, request: HttpRequest | None = None, **_: Any) -> None:
    """Record who signed in."""
    record(user, "login.succeeded", user, request=request)


@receiver(user_logged_out)
def logged_out(user: User | None, request: HttpRequest | None = None, **_: Any) -> None:
    """Record who signed out."""
    if user is not None:
        record(user, "login.ended", user, request=request)


@receiver(user_login_failed)
def login_failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """Record whose sign-in failed; of a name that nobody has nothing, it may be a password."""
    named = Q(username=credentials.get("username") or "")
    if email := credentials.get("email"):
        named |= Q(email__iexact=email)
    user = User.objects.filter(named).first()
    record(None, "login.failed", user, request=request, known=user is not None)


@receiver(pre_save, sender=User)
def user_changes(instance: User, update_fields: Any = None, **_: Any) -> None:
    """Record a changed password, and changed rights."""
    if instance.pk is None or (update_fields is not None and set(update_fields) == {"last_login"}):
        return
    before = User.objects.filter(pk=instance.pk).only("password", *RIGHTS).first()
    if before is None:
        return
    # A password that is hashed anew when it is used is the same one.
    hashed_anew = update_fields is not None and getattr(instance, "_password", None) is None
    if before.password != instance.password and not hashed_anew:
        record(None, "password.changed", instance)
    changed = {
        field: getattr(instance, field)
        for field in RIGHTS
        if getattr(before, field) != getattr(instance, field)
    }
    if changed:
        record(None, "rights.changed", instance, **changed)


@receiver(post_save, sender=User)
def user_added(instance: User, created: bool, **_: Any) -> None:
    """Record a new account."""
    if created:
        record(None, "user.added", instance, superuser=instance.is_superuser)


@receiver(m2m_changed)
def connected(
    instance: Model, action: str, model: type[Model], pk_set: set[Any] | None, **kwargs: Any
) -> None:
    """Record who or what was added to, or removed from, something that is watched."""
    labels = {instance._meta.label_lower, model._meta.label_lower}
    if action not in M2M or not labels & watched or not (pk_set or action == "pre_clear"):
        return
    field = _field(instance, kwargs["sender"])
    record(
        None,
        f"{instance._meta.model_name}.{field}.{M2M[action]}",
        instance,
        of=model._meta.label_lower,
        keys=sorted(map(str, pk_set or ())),
    )


def _field(instance: Model, through: type[Model]) -> str:
    """Return the name of an object's field whose connections are stored in `through`."""
    for field in instance._meta.get_fields():
        if field.many_to_many:
            relation = getattr(field, "remote_field", None)
            stores = getattr(field, "through", None) or getattr(relation, "through", None)
            if stores is through:
                accessor = getattr(field, "get_accessor_name", None)
                return str(accessor() if accessor else field.name)
    return through._meta.model_name or ""


def deleted(instance: Model, **_: Any) -> None:
    """Record that something watched is gone; from then on people have a pseudonym."""
    record(None, f"{instance._meta.model_name}.deleted", instance)
    if isinstance(instance, User):
        forget_person(instance.pk, {instance.get_username(), instance.email} - {""})


def watch(*labels: str) -> None:
    """Record the deletion of objects of these models, and what they are connected with."""
    for label in labels:
        watched.add(label.lower())
        # Of these only: a model that some receiver hears of is deleted row by row.
        post_delete.connect(deleted, sender=label, dispatch_uid=f"audit {label}")


watch("auth.User", "auth.Group")


@receiver(post_save, sender=LogEntry)
def changed_in_admin(instance: LogEntry, created: bool, **_: Any) -> None:
    """Record what was done in admin: of a change, the names of the fields."""
    kind = instance.content_type
    label = f"{kind.app_label}.{kind.model}" if kind else ""
    if not created or (instance.action_flag == DELETION and label in watched):
        return
    about = _about(instance, label)
    if about.name != instance.object_repr:
        LogEntry.objects.filter(pk=instance.pk).update(object_repr=about.name)
    changes = _changes(instance.change_message)
    record(instance.user, ADMIN[instance.action_flag], about, changes=changes)


def _about(entry: LogEntry, label: str) -> Target:
    """Return what an entry of the admin is about; of what is one person's own, not its name."""
    model = entry.content_type.model_class() if entry.content_type else None
    key = entry.object_id or ""
    if model is None or not owned_by(model):
        return Target(label, key, entry.object_repr)
    found = model._base_manager.filter(pk=key).first()
    return described(found) if found is not None else Target(label, key)


def _changes(message: str) -> list[dict[str, Any]]:
    """Return what an entry of the admin says was changed, without what it is called."""
    try:
        parts = json.loads(message)
    except ValueError:
        return []
    found = []
    for part in parts if isinstance(parts, list) else ():
        for what, about in part.items():
            known = {key: about[key] for key in ("name", "fields") if key in about}
            found.append({what: known})
    return found
