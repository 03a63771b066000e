"""What people say of answers, as pages show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Prefetch, prefetch_related_objects

from chat.models import Feedback

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from chat.models import Message


def attach_feedback(messages: list[Message], user: User | AnonymousUser) -> None:
    """Give each message, as its `own_feedback`, what this person said of it: one or none."""
    own = Feedback.objects.filter(user=user.pk)
    prefetch_related_objects(messages, Prefetch("feedback", own, to_attr="own_feedback"))


def own_feedback(message: Message) -> Feedback | None:
    """Return what `attach_feedback` found."""
    found: list[Feedback] = getattr(message, "own_feedback", [])
    return found[0] if found else None
