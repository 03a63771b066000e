"""Passages of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from uuid_utils.compat import uuid7

from retrieval.models.collections import Collection
from retrieval.models.documents import DocumentVersion

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class ChunkQuerySet(models.QuerySet["Chunk"]):
    """Chunks as search may see them."""

    def visible_to(self, user: User | AnonymousUser) -> ChunkQuerySet:
        """Keep chunks in collections that `user` may search."""
        return self.filter(version__document__collection__in=Collection.objects.visible_to(user))

    def ready(self) -> ChunkQuerySet:
        """Keep chunks of current versions of enabled documents."""
        return self.filter(version__current_of__isnull=False, version__current_of__enabled=True)


class Chunk(models.Model):
    """A passage of a document version, with its position in the version's text."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="chunks")
    ordinal = models.PositiveIntegerField(help_text="0, 1, 2 … within the version.")
    text = models.TextField()
    heading_path: ArrayField[list[str], list[str]] = ArrayField(
        models.TextField(), default=list, blank=True
    )
    page_start = models.PositiveIntegerField(null=True, blank=True)
    page_end = models.PositiveIntegerField(null=True, blank=True)
    char_start = models.PositiveIntegerField(help_text="Offset in the version's text, code points.")
    char_end = models.PositiveIntegerField()
    fulltext = SearchVectorField(null=True, editable=False)

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering = ("version", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=["version", "ordinal"], name="one_chunk_an_ordinal"),
        )
        indexes = (GinIndex(fields=["fulltext"], name="chunk_fulltext"),)

    def __str__(self) -> str:
        return self.text[:80]
