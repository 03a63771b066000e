"""The audit log."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from uuid_utils.compat import uuid7


class AuditEvent(models.Model):
    """Something that somebody read or changed; PostgreSQL lets nothing change it (see 0001).

    People and objects are named by what they are called and by their keys, without foreign keys:
    an event stays as it is when what it is about is gone. It never holds contents.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField(default=timezone.now)
    actor_id = models.BigIntegerField(null=True, help_text="The key of who did it.")
    actor_name = models.CharField("actor", max_length=150, blank=True)
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=100, blank=True, help_text="Its model's label.")
    target_id = models.CharField(max_length=100, blank=True)
    target_name = models.CharField("target", max_length=300, blank=True)
    address = models.GenericIPAddressField(null=True)
    via = models.CharField(
        max_length=20, blank=True, help_text="session or token; none: a command, or the worker."
    )
    request_id = models.CharField("request or run", max_length=100, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ("-at", "-id")
        indexes = (
            models.Index(fields=["-at"], name="events_by_time"),
            models.Index(fields=["actor_id", "-at"], name="events_of_actor"),
            models.Index(fields=["target_type", "target_id"], name="events_about_target"),
            models.Index(fields=["action", "-at"], name="events_by_action"),
        )

    def __str__(self) -> str:
        return f"{self.action} {self.target_name}".rstrip()
