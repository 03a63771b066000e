"""Conversations and their messages."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from uuid_utils.compat import uuid7

from chat.models.assistants import Assistant


class Conversation(models.Model):
    """A person's questions and their answers, in order."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    assistant = models.ForeignKey(
        Assistant, null=True, on_delete=models.SET_NULL, related_name="conversations"
    )
    title = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

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
