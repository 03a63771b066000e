"""The ledger of ingestion: each try at each stage of a version."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from retrieval.models.documents import DocumentVersion, ErrorClass, Stage


class Outcome(models.TextChoices):
    """How a try at a stage ended."""

    RUNNING = "running", "Running"
    DONE = "done", "Done"
    RETRIED = "retried", "To be tried again"
    FAILED = "failed", "Failed"
    INTERRUPTED = "interrupted", "Interrupted"


class IngestStage(models.Model):
    """A try at one stage of a version's ingestion: the ledger."""

    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="stages")
    stage = models.CharField(max_length=20, choices=Stage.choices)
    attempt = models.PositiveIntegerField(help_text="1, 2, 3 … within the version and stage.")
    outcome = models.CharField(max_length=20, choices=Outcome.choices, default=Outcome.RUNNING)
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    counts = models.JSONField(
        default=dict, blank=True, help_text="Pages, characters, chunks, embedded, copied, tokens …"
    )
    error_code = models.CharField(max_length=30, blank=True)
    error_class = models.CharField(max_length=20, choices=ErrorClass.choices, blank=True)
    message = models.TextField(blank=True)
    worker = models.CharField(max_length=100, blank=True, help_text="Host and process.")

    class Meta:
        ordering = ("version", "started_at", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=["version", "stage", "attempt"], name="one_try_an_attempt"
            ),
        )
        indexes = (models.Index(fields=["ended_at"], name="stages_by_end"),)

    def __str__(self) -> str:
        return f"{self.get_stage_display()}, attempt {self.attempt}: {self.get_outcome_display()}"
