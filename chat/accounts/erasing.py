"""Deleting all conversations of a person, or the person."""

from __future__ import annotations

from typing import Any

from allauth.usersessions.models import UserSession
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models.signals import post_delete, pre_delete
from django.dispatch import receiver

from chat import runs
from chat.accounts.models import Guest
from chat.models import ACTIVE, Conversation, Run
from retrieval.audit.removing import forget_person

BATCH = 100


def is_only_superuser(user: User) -> bool:
    """Whether nobody else could administrate the site any more."""
    active = User.objects.filter(is_superuser=True, is_active=True)
    return user.is_superuser and not active.exclude(pk=user.pk).exists()


def delete_conversations(user: User) -> int:
    """Stop what is being answered and delete all conversations of a person; return how many."""
    stop_runs(user)
    deleted = 0
    own = Conversation.with_deleted.filter(user=user).order_by("pk")
    while keys := list(own.values_list("pk", flat=True)[:BATCH]):
        Conversation.with_deleted.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted


def stop_runs(user: User) -> None:
    """Stop what is being answered, in whatever process: nobody will read it."""
    for run in Run.objects.filter(user=user, state__in=ACTIVE).values_list("pk", flat=True):
        async_to_sync(runs.stop)(user, run)


@receiver(pre_delete, sender=User)
@receiver(pre_delete, sender=Guest)
def leave(instance: User, **_: Any) -> None:
    """Stop the answers of somebody who is deleted, and end their sessions."""
    stop_runs(instance)
    keys = UserSession.objects.filter(user=instance).values_list("session_key", flat=True)
    Session.objects.filter(pk__in=list(keys)).delete()


@receiver(post_delete, sender=Guest)
def forget(instance: Guest, **_: Any) -> None:
    """Keep no address of a guest who is gone; of people the audit log does that itself."""
    forget_person(instance.pk)
