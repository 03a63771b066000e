"""Conversations and their messages."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from uuid_utils.compat import uuid7

from chat.models.assistants import Assistant


class KeptConversations(models.Manager["Conversation"]):
    """Conversations that nobody has deleted."""

    def get_queryset(self) -> models.QuerySet[Conversation]:
        """Leave out what is deleted."""
        return super().get_queryset().filter(deleted_at__isnull=True)


class Titling(models.TextChoices):
    """Who gave a conversation its title."""

    QUESTION = "question", "The first question"
    GENERATOR = "generator", "The generator"
    PERSON = "person", "Its person"


class Conversation(models.Model):
    """A person's questions and their answers, in order."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    assistant = models.ForeignKey(
        Assistant, null=True, on_delete=models.SET_NULL, related_name="conversations"
    )
    title = models.CharField(
        max_length=200, blank=True, help_text="Empty until something was asked."
    )
    titled_by = models.CharField(
        max_length=10,
        choices=Titling.choices,
        default=Titling.QUESTION,
        db_default=Titling.QUESTION,
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    pinned_at = models.DateTimeField(null=True, blank=True)
    listed = models.BooleanField(
        default=True,
        db_default=True,
        help_text="Whether it is among those its person sees; programs can ask without.",
    )
    metadata = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="What a program keeps with it."
    )
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="Kept for a moment, in which it can be brought back."
    )

    objects = KeptConversations()
    with_deleted: models.Manager[Conversation] = models.Manager()

    class Meta:
        ordering = ("-updated_at",)
        indexes = (models.Index(fields=["user", "-updated_at"], name="conversations_of_user"),)

    def __str__(self) -> str:
        return self.title


class Role(models.TextChoices):
    """Who wrote a message."""

    USER = "user", "Question"
    ASSISTANT = "assistant", "Answer"


class Message(models.Model):
    """A question or an answer; an answer's text grows while its run is active."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    role = models.CharField(max_length=10, choices=Role.choices)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("created_at", "id")

    def __str__(self) -> str:
        return self.text[:80]
