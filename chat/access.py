"""Signing out, and losing an account or a right, reach sockets that are open.

Sockets are told through the channel layer as soon as the change is committed; because that is only
a hint, whoever asks for something is checked against the database as well.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.module_loading import import_string

from chat.models import Assistant
from retrieval.database import fetch, in_thread
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.sessions.backends.base import SessionBase

# The channel-layer group of all sockets.
EVERYONE = "everyone"


def user_group(user: Any) -> str:
    """Return the channel-layer group of a person's sockets."""
    return f"user.{user.pk}"


async def is_signed_in(user: User, session_key: str | None) -> bool:
    """Whether a session still exists, and its user may still sign in. Raises DatabaseError."""
    unchanged = await fetch(
        "SELECT FROM django_session, auth_user WHERE session_key = %s AND expire_date > now()"
        " AND auth_user.id = %s AND is_active AND password = %s",
        [session_key, user.pk, user.password],
    )
    # Who changed the password stays signed in: only the session itself knows.
    return bool(unchanged) or await in_thread(_is_signed_in, session_key)


def _is_signed_in(session_key: str | None) -> bool:
    engine = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
    request = HttpRequest()
    session: SessionBase = engine(session_key)
    request.session = session
    return get_user(request).is_authenticated


@receiver([post_save, post_delete], sender=User)
def changed(instance: User, created: bool = False, update_fields: Any = None, **_: Any) -> None:
    """Let the sockets of a person look whether they may still be there."""
    only_signed_in = update_fields is not None and set(update_fields) == {"last_login"}
    if not created and not only_signed_in:
        look_again(user_group(instance))


@receiver(post_delete, sender=Session)
def session_ended(instance: Session, **_: Any) -> None:
    """Let the sockets of whoever signed out, or was signed out, look again."""
    if instance.expire_date > timezone.now():
        user = instance.get_decoded().get(SESSION_KEY)
        look_again(f"user.{user}" if user else EVERYONE)


@receiver(m2m_changed, sender=User.groups.through)
@receiver(m2m_changed, sender=User.user_permissions.through)
def rights_of_people_changed(
    instance: User | Group, action: str, reverse: bool, pk_set: set[int] | None, **_: Any
) -> None:
    """Let the sockets of people whose groups or permissions changed look again."""
    if action.startswith("post_"):
        people = [instance.pk] if not reverse else pk_set
        for person in people if people is not None else ():
            look_again(f"user.{person}")
        if people is None:  # a group was emptied: of whom is not said
            look_again(EVERYONE)


@receiver(m2m_changed, sender=Group.permissions.through)
def rights_of_group_changed(action: str, **_: Any) -> None:
    """Let all sockets look again: who is in the group may be many."""
    if action.startswith("post_"):
        look_again(EVERYONE)


@receiver([post_save, post_delete], sender=Collection)
@receiver([post_save, post_delete], sender=Assistant)
@receiver(post_delete, sender=Group)
def openness_changed(created: bool = False, **_: Any) -> None:
    """Let all sockets look again: a collection or an assistant may be closed to anyone now."""
    if not created:
        look_again(EVERYONE)


def people_changed(action: str, **_: Any) -> None:
    """Let all sockets look again when a collection or an assistant has other people."""
    if action.startswith("post_"):
        look_again(EVERYONE)


for model in (Collection, Assistant):
    for field in model._meta.many_to_many:
        if field.related_model in (User, Group):
            m2m_changed.connect(people_changed, sender=field.remote_field.through)


def look_again(group: str) -> None:
    """Tell the sockets of a group, when what changed is committed, to check what they may."""
    transaction.on_commit(partial(_tell, group))


def _tell(group: str) -> None:
    layer = get_channel_layer()
    if layer is not None:
        async_to_sync(layer.group_send)(group, {"type": "look.again"})
