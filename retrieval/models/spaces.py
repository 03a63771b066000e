"""Embedding spaces, and the vectors of chunks in them."""

from __future__ import annotations

from typing import Any

from django.db import models
from pgvector.django import VectorField

from retrieval.models.chunks import Chunk


class SpaceState(models.TextChoices):
    """What an embedding space is there for."""

    ACTIVE = "active", "Searched"
    FILLING = "filling", "Filling"
    FAILED = "failed", "Failed"
    KEPT = "kept", "Kept"


class EmbeddingSpace(models.Model):
    """A model and its parameters: vectors are comparable within one space only.

    A query is always embedded by the model of the space it is compared in; `backend` and
    `options` are what makes that embedder, but for keys, which are in the settings.
    """

    model = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    query_prefix = models.CharField(max_length=200, blank=True)
    passage_prefix = models.CharField(max_length=200, blank=True)
    backend = models.CharField(max_length=300, blank=True, help_text="Class of the embedder.")
    options = models.JSONField(default=dict, blank=True, help_text="What it is made with.")
    state = models.CharField(max_length=20, choices=SpaceState.choices, default=SpaceState.KEPT)
    configured = models.BooleanField(
        default=False, help_text="The settings' model when a worker last looked."
    )
    indexed = models.BooleanField(default=False, help_text="Its cosine index is built.")
    error = models.TextField(blank=True)
    activated_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["model", "dimensions", "query_prefix", "passage_prefix"],
                name="one_space_a_model",
            ),
            models.UniqueConstraint(
                fields=["state"], condition=models.Q(state="active"), name="one_active_space"
            ),
        )

    def __str__(self) -> str:
        return f"{self.model} ({self.dimensions})"


class ChunkEmbedding(models.Model):
    """A chunk's vector in a space; the column has no fixed dimensions, each space its own index."""

    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="embeddings")
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE, related_name="embeddings")
    embedding: Any = VectorField()
    digest = models.UUIDField(null=True, editable=False, help_text="Of the text as embedded.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["chunk", "space"], name="one_embedding_a_space"),
        )
