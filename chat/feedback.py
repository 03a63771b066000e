"""What people say of answers: said, changed, and as pages show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch, prefetch_related_objects

from chat.models import Feedback, Message, Role

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import QuerySet


def own_answers(user: User) -> QuerySet[Message]:
    """Return the answers of which a person can say something: those in their conversations."""
    return Message.objects.filter(
        conversation__user=user, conversation__deleted_at=None, role=Role.ASSISTANT
    )


def give(answer: Message, user: User, **said: Any) -> Feedback:
    """Store what a person says of an answer, in place of what they said before.

    A reason is one against it.
    """
    if said.get("helpful"):
        said["reason"] = ""
    # Two thumbs at once are one.
    return Feedback.objects.update_or_create(message=answer, user=user, defaults=said)[0]


def attach_feedback(messages: list[Message], user: User | AnonymousUser) -> None:
    """Give each message, as its `own_feedback`, what this person said of it: one or none."""
    own = Feedback.objects.filter(user=user.pk)
    prefetch_related_objects(messages, Prefetch("feedback", own, to_attr="own_feedback"))


def own_feedback(message: Message) -> Feedback | None:
    """Return what `attach_feedback` found."""
    found: list[Feedback] = getattr(message, "own_feedback", [])
    return found[0] if found else None
