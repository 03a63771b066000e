"""Conversations, their messages, the runs that answer them, and the evidence of each answer."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from uuid_utils.compat import uuid7

from retrieval.models import Chunk, Collection, DocumentVersion


class Assistant(models.Model):
    """A configured persona: instructions, collections, search settings."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=100, unique=True)
    instructions = models.TextField(blank=True, help_text="Added to the system prompt.")
    collections = models.ManyToManyField(
        Collection, blank=True, help_text="What it searches; none means all that a person may see."
    )
    search_settings = models.JSONField(default=dict, blank=True)
    greeting = models.CharField(max_length=300, blank=True)
    suggested_questions = models.JSONField(default=list, blank=True)
    allowed_models: ArrayField[list[str], list[str]] = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="Models that a question may choose, separated by commas; staff may choose any.",
    )
    rewrites = models.BooleanField(
        "rewrites questions",
        default=True,
        help_text="A question that goes on with others is searched for as it would stand by"
        " itself; what was typed stays as it is.",
    )
    is_default = models.BooleanField(default=False)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(
                fields=["is_default"],
                condition=models.Q(is_default=True),
                name="one_default_assistant",
            ),
        )

    def __str__(self) -> str:
        return self.name


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
    model = models.CharField(max_length=200, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    written = models.JSONField(
        default=list, blank=True, help_text="What was searched for in place of the question."
    )
    usage = models.JSONField(default=dict, blank=True)
    timings = models.JSONField(default=dict, blank=True, help_text="Milliseconds.")

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


class Candidate(models.Model):
    """A passage that retrieval found for a run, with its scores by stage."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="candidates")
    rank = models.PositiveIntegerField(help_text="1, 2, 3 … as ranked.")
    index = models.PositiveIntegerField(null=True, help_text="Its number in the prompt.")
    chunk = models.ForeignKey(Chunk, null=True, on_delete=models.SET_NULL, related_name="+")
    title = models.CharField(max_length=500)
    page = models.PositiveIntegerField(null=True)
    snippet = models.TextField()
    scores = models.JSONField(default=dict)

    class Meta:
        ordering = ("run", "rank")
        constraints = (
            models.UniqueConstraint(fields=["run", "rank"], name="one_candidate_a_rank"),
        )


class Citation(models.Model):
    """A marker in an answer, and the sentence of a document version that supports it."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="citations")
    ordinal = models.PositiveIntegerField(help_text="0, 1, 2 … in order of appearance.")
    index = models.PositiveIntegerField(help_text="The passage's number in the prompt.")
    chunk = models.ForeignKey(Chunk, null=True, on_delete=models.SET_NULL, related_name="+")
    version = models.ForeignKey(
        DocumentVersion, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    title = models.CharField(max_length=500)
    page = models.PositiveIntegerField(null=True)
    quote = models.TextField()
    span_start = models.PositiveIntegerField(help_text="Code points of the answer.")
    span_end = models.PositiveIntegerField()

    class Meta:
        ordering = ("message", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=["message", "ordinal"], name="one_citation_an_ordinal"),
        )

    def __str__(self) -> str:
        return f"[{self.index}] {self.title}"
