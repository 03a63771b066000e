"""Documents, their versions, the chunks of each version, and the chunks' embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils import timezone
from pgvector.django import VectorField
from uuid_utils.compat import uuid7

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class Visibility(models.TextChoices):
    """Who may search a collection."""

    STAFF = "staff", "Staff only"
    SIGNED_IN = "signed_in", "Everyone signed in"
    PUBLIC = "public", "Public"


class CollectionQuerySet(models.QuerySet["Collection"]):
    """Collections as people may see them."""

    def visible_to(self, user: User | AnonymousUser) -> CollectionQuerySet:
        """Keep the collections `user` may search."""
        if user.is_active and user.is_staff:
            return self
        if user.is_authenticated and user.is_active:
            return self.exclude(visibility=Visibility.STAFF)
        return self.filter(visibility=Visibility.PUBLIC)


class Collection(models.Model):
    """A set of documents that are searched, and made visible, together."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200, unique=True)
    description = models.TextField(blank=True)
    visibility = models.CharField(
        max_length=20, choices=Visibility.choices, default=Visibility.SIGNED_IN
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


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
