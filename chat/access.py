"""Signing out, and losing an account, reach sockets that are open.

Sockets are told through the channel layer at once; because that is only a hint, whoever asks for
something is checked against the database as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_out
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.module_loading import import_string

from retrieval.database import fetch, in_thread

if TYPE_CHECKING:
    from django.contrib.sessions.backends.base import SessionBase


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


@receiver(user_logged_out)
def signed_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    """Let the sockets of a person look whether their session is gone."""
    if user is not None:
        look_again(user)


@receiver([post_save, post_delete], sender=User)
def changed(instance: User, created: bool = False, update_fields: Any = None, **_: Any) -> None:
    """Let the sockets of a person look whether they may still be there."""
    only_signed_in = update_fields is not None and set(update_fields) == {"last_login"}
    if not created and not only_signed_in:
        look_again(instance)


def look_again(user: User) -> None:
    """Tell a person's sockets to check their session."""
    layer = get_channel_layer()
    if layer is not None:
        async_to_sync(layer.group_send)(user_group(user), {"type": "look.again"})
