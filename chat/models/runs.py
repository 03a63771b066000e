"""The runs that answer questions, and their frames."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from uuid_utils.compat import uuid7

from chat.models.assistants import AssistantVersion
from chat.models.conversations import Conversation, Message


class RunState(models.TextChoices):
    """How far a run got."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    COMPLETED = "completed", "Completed"
    CANCELLED = "cancelled", "Stopped"
    FAILED = "failed", "Failed"
    INTERRUPTED = "interrupted", "Interrupted"


ACTIVE = (RunState.QUEUED, RunState.RUNNING)


class Run(models.Model):
    """One question being answered: who works on it, and how it ended."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="runs")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    question = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="asked_by_run")
    answer = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="run")
    ask_id = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - unique if set
    state = models.CharField(max_length=20, choices=RunState.choices, default=RunState.QUEUED)
    owner = models.CharField(max_length=100, blank=True, help_text="The process that works on it.")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="When a reader in another process last asked for frames."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    finish_reason = models.CharField(max_length=20, blank=True)
    error_code = models.CharField(max_length=40, blank=True)
    error_message = models.TextField(blank=True)
    assistant_version = models.ForeignKey(
        AssistantVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="runs"
    )
    model = models.CharField(max_length=200, blank=True)
    without_sources = models.BooleanField(
        db_default=False, help_text="Answered from what the model knows, not from documents."
    )
    grounding = models.CharField(
        max_length=12,
        blank=True,
        db_default="",
        help_text="grounded, partly, ungrounded or no_sources; empty where it is not checked.",
    )
    settings = models.JSONField(default=dict, blank=True)
    generation = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="How it was to be written, where the question said so.",
    )
    metadata = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="What a program keeps with it."
    )
    written = models.JSONField(
        default=list, blank=True, help_text="What was searched for in place of the question."
    )
    usage = models.JSONField(default=dict, blank=True)
    timings = models.JSONField(default=dict, blank=True, help_text="Milliseconds.")

    is_repeat = False
    """Whether its question was asked again by the same id just now; not stored."""

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.UniqueConstraint(
                fields=["conversation"],
                condition=models.Q(state="running"),
                name="one_running_a_conversation",
            ),
            models.UniqueConstraint(
                fields=["user", "ask_id"],
                condition=models.Q(ask_id__isnull=False),
                name="one_run_an_ask",
            ),
        )

    def __str__(self) -> str:
        return str(self.id)


class RunFrame(models.Model):
    """A frame as it was sent, kept so that a reader can come back."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="frames")
    seq = models.PositiveIntegerField()
    payload = models.JSONField()

    class Meta:
        ordering = ("run", "seq")
        constraints = (models.UniqueConstraint(fields=["run", "seq"], name="one_frame_a_seq"),)
