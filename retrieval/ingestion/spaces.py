"""Embedding spaces: which one is searched, which ones are filled, and the switch between them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from retrieval import backends
from retrieval.backends.base import Embedder, EmbedderSpec
from retrieval.ingestion import indexes
from retrieval.ingestion.chunking import embedded_text
from retrieval.models import Chunk, ChunkEmbedding, ChunkQuerySet, EmbeddingSpace, SpaceState

# Held by whoever changes which space is searched; shared by whoever makes a version current.
SPACES_LOCK = 0x72616774
# Of the longest chunks so many are measured with a new model.
MEASURED = 200


class SpaceError(Exception):
    """What was asked for cannot be done with a space; the message is for people."""


@dataclass(frozen=True)
class Progress:
    """How many of the chunks that are searched have a vector in a space."""

    embedded: int
    total: int

    @property
    def complete(self) -> bool:
        """Whether none is missing."""
        return self.embedded == self.total


def spec_of(space: EmbeddingSpace) -> EmbedderSpec:
    """Return what a space says of its embedder."""
    return EmbedderSpec(
        space.model,
        space.dimensions,
        space.query_prefix,
        space.passage_prefix,
        space.backend,
        json.dumps(space.options, sort_keys=True),
    )


def embedder_of(space: EmbeddingSpace) -> Embedder:
    """Return the model of a space. Raises BackendError if it cannot be made."""
    return backends.embedder_of(spec_of(space))


def current_space() -> EmbeddingSpace:
    """Return the space that is searched; the first one is that of the configured embedder."""
    active = EmbeddingSpace.objects.filter(state=SpaceState.ACTIVE).first()
    if active is not None:
        return active
    space = space_of(backends.embedder(), settings.RAG_BACKENDS["embedder"])
    with locked():
        found = EmbeddingSpace.objects.filter(state=SpaceState.ACTIVE).first()
        if found is None:
            _set_configured(space)
            _activate(space)
        return found or space


def space_of(embedder: Embedder, config: Mapping[str, Any]) -> EmbeddingSpace:
    """Return the space of an embedder that an entry of the settings made, new if need be."""
    spec = backends.describe(embedder, config)
    known = {"backend": spec.backend, "options": json.loads(spec.options)}
    space, created = EmbeddingSpace.objects.get_or_create(
        model=spec.model,
        dimensions=spec.dimensions,
        query_prefix=spec.query_prefix,
        passage_prefix=spec.passage_prefix,
        defaults=known,
    )
    if not created and (space.backend, space.options) != (known["backend"], known["options"]):
        # The same model is served from elsewhere now.
        space.backend, space.options = known["backend"], known["options"]
        space.save(update_fields=["backend", "options"])
    return space


def notice_configured() -> EmbeddingSpace | None:
    """Begin to fill the configured embedder's space if the settings changed since last time.

    What was switched or rolled back by hand stays so until then. Raises BackendError, SpaceError.
    """
    embedder = backends.embedder()
    if not embedder.dimensions or not EmbeddingSpace.objects.exists():
        return None
    space = space_of(embedder, settings.RAG_BACKENDS["embedder"])
    if space.configured and space.state != SpaceState.FAILED:
        return None
    try:
        begin(space)
    except SpaceError as error:
        EmbeddingSpace.objects.filter(pk=space.pk).update(state=SpaceState.FAILED, error=str(error))
        raise
    with locked():
        _set_configured(space)
    return space


def targets() -> list[EmbeddingSpace]:
    """Return the spaces that a new version is embedded in, the one that is searched first."""
    filling = EmbeddingSpace.objects.filter(state=SpaceState.FILLING).order_by("pk")
    return [current_space(), *filling]


def searched_chunks() -> ChunkQuerySet:
    """Return the chunks of current versions, of documents that are disabled, too."""
    return Chunk.objects.filter(version__current_of__isnull=False)


def missing(chunks: ChunkQuerySet, space: EmbeddingSpace) -> ChunkQuerySet:
    """Keep the chunks that have no vector in a space."""
    known = ChunkEmbedding.objects.filter(chunk=OuterRef("pk"), space=space)
    return chunks.filter(~Exists(known))


def progress(space: EmbeddingSpace) -> Progress:
    """Count what of the chunks that are searched is embedded in a space."""
    embedded = Count(
        "pk", filter=Exists(ChunkEmbedding.objects.filter(chunk=OuterRef("pk"), space=space))
    )
    counts = searched_chunks().aggregate(total=Count("pk"), embedded=embedded)
    return Progress(counts["embedded"], counts["total"])


def begin(space: EmbeddingSpace) -> bool:
    """Fill a space, to search in it as soon as nothing is missing; return whether that is now.

    The caller queues the filling. Raises SpaceError if its model does not read whole chunks, or
    BackendError if it cannot be made.
    """
    embedder = embedder_of(space)
    refuse_small_window(embedder)
    with locked():
        space.refresh_from_db()
        if space.state == SpaceState.ACTIVE:
            return True
        if space.indexed and progress(space).complete:
            _activate(space)
            return True
        # One space at a time is on its way to be searched.
        EmbeddingSpace.objects.filter(state=SpaceState.FILLING).exclude(pk=space.pk).update(
            state=SpaceState.KEPT
        )
        EmbeddingSpace.objects.filter(pk=space.pk).update(state=SpaceState.FILLING, error="")
    return False


def refuse_small_window(embedder: Embedder) -> None:
    """Raise SpaceError if a model's window is smaller than the chunks are."""
    longest = searched_chunks().annotate(length=Length("text")).order_by("-length")
    for chunk in longest.select_related("version__document").defer("version__text")[:MEASURED]:
        title = chunk.version.title or chunk.version.document.title
        text = embedder.passage_prefix + embedded_text(title, chunk.heading_path, chunk.text)
        tokens = embedder.count_tokens(text)
        if tokens > embedder.max_tokens:
            raise SpaceError(
                f"{embedder.model} reads {embedder.max_tokens} tokens, and the documents have "
                f"passages of about {tokens}. Choose a model with a larger window; or set "
                "EMBEDDING_MAX_TOKENS if its window is larger than that."
            )


def finish(space: EmbeddingSpace) -> bool:
    """Search in a filled space from now on, in one transaction; return whether it is complete."""
    with locked():
        space.refresh_from_db()
        if space.state != SpaceState.FILLING or missing(searched_chunks(), space).exists():
            return space.state != SpaceState.FILLING
        _activate(space)
    return True


def fail(space: EmbeddingSpace, message: str) -> None:
    """Give up filling a space."""
    EmbeddingSpace.objects.filter(pk=space.pk, state=SpaceState.FILLING).update(
        state=SpaceState.FAILED, error=message
    )


def note_error(space: EmbeddingSpace, message: str) -> None:
    """Say why the filling of a space waits; it goes on by itself."""
    EmbeddingSpace.objects.filter(pk=space.pk).update(error=message)


def previous() -> EmbeddingSpace | None:
    """Return the space that was searched before the present one."""
    return (
        EmbeddingSpace.objects.filter(activated_at__isnull=False)
        .exclude(state=SpaceState.ACTIVE)
        .order_by("-activated_at")
        .first()
    )


def cancel(space: EmbeddingSpace) -> None:
    """Fill a space no further; what it has it keeps."""
    EmbeddingSpace.objects.filter(pk=space.pk, state=SpaceState.FILLING).update(
        state=SpaceState.KEPT
    )


def delete(space: EmbeddingSpace) -> None:
    """Delete a space with its vectors and indexes; must not run inside a transaction.

    Raises SpaceError if it is searched or being filled.
    """
    with locked():
        space.refresh_from_db()
        if space.state in (SpaceState.ACTIVE, SpaceState.FILLING):
            raise SpaceError(f"{space} is {space.get_state_display().lower()}: it stays.")
        if space.configured:
            raise SpaceError(
                f"{space} is the model of the settings: the worker would fill it again. Change "
                "EMBEDDER or EMBEDDING_MODEL first."
            )
    indexes.drop_all(space)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM retrieval_chunkembedding WHERE space_id = %s", [space.pk])
    space.delete()


@contextmanager
def locked(*, shared: bool = False) -> Iterator[None]:
    """Hold the lock of which space is searched, until the transaction ends."""
    kind = "_shared" if shared else ""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_xact_lock{kind}(%s)", [SPACES_LOCK])
        yield


def _activate(space: EmbeddingSpace) -> None:
    EmbeddingSpace.objects.filter(state=SpaceState.ACTIVE).update(state=SpaceState.KEPT)
    EmbeddingSpace.objects.filter(pk=space.pk).update(
        state=SpaceState.ACTIVE, activated_at=timezone.now(), error=""
    )
    space.refresh_from_db()


def _set_configured(space: EmbeddingSpace) -> None:
    others: QuerySet[EmbeddingSpace] = EmbeddingSpace.objects.filter(~Q(pk=space.pk))
    others.update(configured=False)
    EmbeddingSpace.objects.filter(pk=space.pk).update(configured=True)
