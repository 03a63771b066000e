"""What people do with their conversations: name, pin, delete, bring back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone

from chat import runs
from chat.models import ACTIVE, Conversation, Titling
from chat.sidebar import restorable
from retrieval.audit.recording import record
from retrieval.text.cleaning import label

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TITLE_MAX_CHARS = 200


def rename(conversation: Conversation, title: str) -> bool:
    """Give a conversation the name; return whether anything of it is left to be one."""
    if cleaned := label(title, TITLE_MAX_CHARS):
        conversation.title, conversation.titled_by = cleaned, Titling.PERSON
        # A new name is no new activity: updated_at stays.
        Conversation.objects.filter(pk=conversation.pk).update(
            title=cleaned, titled_by=conversation.titled_by
        )
    return bool(cleaned)


def pin(conversation: Conversation, *, pinned: bool) -> None:
    """Put a conversation on top of the list, or back among the others."""
    conversation.pinned_at = timezone.now() if pinned else None
    Conversation.objects.filter(pk=conversation.pk).update(pinned_at=conversation.pinned_at)


def delete(user: User, conversation: Conversation) -> None:
    """Delete a conversation of `user`; for a moment it can be brought back.

    The rows go when the worker comes by.
    """
    # Nobody would read what a provider is still being paid for; what waits must not begin.
    for run in conversation.runs.filter(state__in=ACTIVE).order_by("-created_at"):
        async_to_sync(runs.stop)(user, run.pk)
    with transaction.atomic():
        Conversation.objects.filter(pk=conversation.pk).update(deleted_at=timezone.now())
        record(user, "conversation.deleted", conversation)


def restore(user: User, conversation: Conversation) -> bool:
    """Bring a conversation of `user` back; return whether it is there, or it is too late."""
    if conversation.deleted_at is None:
        return True
    if not restorable(user, conversation.pk):
        return False
    with transaction.atomic():
        Conversation.with_deleted.filter(pk=conversation.pk, user=user).update(deleted_at=None)
        record(user, "conversation.restored", conversation)
    conversation.deleted_at = None
    return True
