"""What people say of answers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from chat.models.conversations import Message

COMMENT_MAX_CHARS = 2000


class Reason(models.TextChoices):
    """What is wrong with an answer."""

    WRONG = "wrong", _("It is wrong")
    NOT_IN_SOURCES = "not_in_sources", _("The sources do not say it")
    INCOMPLETE = "incomplete", _("It is incomplete")
    TOO_LONG = "too_long", _("It is too long")
    OTHER = "other", _("Something else")


class Feedback(models.Model):
    """Whether an answer helped somebody, and why not."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="feedback")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    helpful = models.BooleanField()
    reason = models.CharField(max_length=20, choices=Reason.choices, blank=True)
    comment = models.TextField(max_length=COMMENT_MAX_CHARS, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("created_at",)
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=["message", "user"], name="one_feedback_a_person_and_message"
            ),
        )

    def __str__(self) -> str:
        return "helpful" if self.helpful else "not helpful"
