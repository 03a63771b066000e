"""Documents and their versions: files, their text, and how far ingestion got."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from uuid_utils.compat import uuid7

from retrieval.models.collections import Collection


class KeptDocuments(models.Manager["Document"]):
    """Documents that nobody deleted."""

    def get_queryset(self) -> models.QuerySet[Document]:
        """Leave out what is deleted and only kept for old answers."""
        return super().get_queryset().filter(deleted_at__isnull=True)


class Document(models.Model):
    """A file in a collection; what is searched is its current version."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="documents")
    name = models.CharField(max_length=255, help_text="The file's name as it was uploaded.")
    title = models.CharField(max_length=500)
    enabled = models.BooleanField(default=True, help_text="Only enabled documents are searched.")
    metadata = models.JSONField(default=dict, blank=True)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    current_version = models.OneToOneField(
        "DocumentVersion",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="current_of",
        help_text="The newest version that is ready.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="Kept for old answers only, and not long."
    )

    objects = KeptDocuments()
    with_deleted: models.Manager[Document] = models.Manager()

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.UniqueConstraint(
                fields=["collection", "name"],
                condition=models.Q(deleted_at__isnull=True),
                name="one_document_a_name",
            ),
        )

    def __str__(self) -> str:
        return self.title


class Stage(models.TextChoices):
    """Where the ingestion of a version stands."""

    QUEUED = "queued", "Queued"
    FETCHING = "fetching", "Fetching"
    EXTRACTING = "extracting", "Extracting text"
    CHUNKING = "chunking", "Chunking"
    EMBEDDING = "embedding", "Embedding"
    FINISHING = "finishing", "Finishing"
    READY = "ready", "Ready"
    FAILED = "failed", "Failed"


# Nothing more is done to a version in one of these.
ENDED = (Stage.READY, Stage.FAILED)


class ErrorClass(models.TextChoices):
    """What an error of ingestion lies in, and so who can do something about it."""

    FILE = "file", "The file"
    ADDRESS = "address", "The address it was to be fetched from"
    PROVIDER = "provider", "The embedding provider"
    DATABASE = "database", "The database"
    INTERNAL = "internal", "A fault of the site"


def stored_name(version: DocumentVersion, filename: str) -> str:
    """Name the stored file by its version's id: nothing of an uploaded name reaches the disk."""
    return (
        f"documents/{version.id}{Path(filename).suffix.lower()[:10] if filename.isascii() else ''}"
    )


class DocumentVersion(models.Model):
    """One upload of a document: its file, its text, and how far ingestion got."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    file = models.FileField(upload_to=stored_name, max_length=300)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    source_url = models.URLField(
        max_length=2000, blank=True, help_text="Where the worker fetches the file from, if it does."
    )
    media_type = models.CharField(max_length=150, blank=True)
    title = models.CharField(max_length=500, blank=True, help_text="As the file itself says.")
    metadata = models.JSONField(default=dict, blank=True, help_text="As the file itself says.")
    language = models.CharField(max_length=10, blank=True, help_text="ISO 639-1.")
    text = models.TextField(blank=True, help_text="The extracted text; chunks point into it.")
    page_starts: ArrayField[list[int], list[int]] = ArrayField(
        models.IntegerField(), default=list, blank=True, help_text="Where each page begins in text."
    )
    chunk_starts: ArrayField[list[int], list[int]] = ArrayField(
        models.IntegerField(),
        default=list,
        db_default=[],
        blank=True,
        help_text="Where each chunk begins in text, if it was added as chunks.",
    )
    chunk_count = models.PositiveIntegerField(default=0)
    embedded_count = models.PositiveIntegerField(default=0)
    stage = models.CharField(max_length=20, choices=Stage.choices, default=Stage.QUEUED)
    error_code = models.CharField(max_length=30, blank=True)
    error_class = models.CharField(max_length=20, choices=ErrorClass.choices, blank=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=["document", "number"], name="one_version_a_number"),
        )
        # The newest one is asked for with each question that was looked ahead for.
        indexes = (models.Index(fields=["finished_at"], name="versions_by_end"),)

    def __str__(self) -> str:
        return f"{self.document} (version {self.number})"

    @property
    def page_count(self) -> int | None:
        """Number of pages, where the format has pages."""
        return len(self.page_starts) or None
