"""What an answer rests on: the passages that were found for it, and those it cites."""

from __future__ import annotations

from django.db import models

from chat.models.conversations import Message
from chat.models.runs import Run
from retrieval.models import Chunk, DocumentVersion


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
    quote_start = models.PositiveIntegerField(
        null=True, help_text="Code points of the version's text."
    )
    quote_end = models.PositiveIntegerField(null=True)
    span_start = models.PositiveIntegerField(help_text="Code points of the answer.")
    span_end = models.PositiveIntegerField()
    support = models.CharField(
        max_length=12,
        blank=True,
        db_default="",
        help_text="supported, partly or unsupported; empty while it is not checked.",
    )
    support_score = models.FloatField(null=True, help_text="0 to 1.")

    class Meta:
        ordering = ("message", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=["message", "ordinal"], name="one_citation_an_ordinal"),
        )

    def __str__(self) -> str:
        return f"[{self.index}] {self.title}"

    @property
    def place(self) -> tuple[int, int] | None:
        """Where the quote stands in the version's text: [start, end) in code points."""
        if self.quote_start is None or self.quote_end is None:
            return None
        return self.quote_start, self.quote_end
