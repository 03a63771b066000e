"""The ingestion of one version: extract, chunk, embed, switch. Each stage can be repeated."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.ingestion import given, ledger, spaces
from retrieval.ingestion.chunking import passages
from retrieval.ingestion.embedding import Embedded, embed_missing
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.extraction import extract
from retrieval.ingestion.fetched import UnchangedError, fetch
from retrieval.ingestion.ledger import VersionGoneError
from retrieval.ingestion.metadata import of_file_itself
from retrieval.ingestion.reuse import copy_known
from retrieval.models import (
    ENDED,
    Chunk,
    ChunkEmbedding,
    Document,
    DocumentVersion,
    EmbeddingSpace,
    Stage,
)
from retrieval.text.cleaning import label
from retrieval.text.fulltext import document_vector
from retrieval.text.language import normalise

if TYPE_CHECKING:
    from retrieval.ingestion.reading import Extracted

logger = logging.getLogger(__name__)

# Chunks written at a time.
BATCH = 500
# Titles that programs write by themselves.
NO_TITLE = re.compile(
    r"\W*|untitled.*|\(?anonymous\)?|.*powerpoint[- ]pr.*|microsoft word - .*|document\d*"
    r"|.*\.(docx?|pptx?|xlsx?|pdf|indd|tex|dvi|qxd|rtf|odt|html?)",
    re.IGNORECASE,
)


async def ingest(
    version_id: uuid.UUID, heard: Callable[[], None] = lambda: None
) -> EmbeddingSpace | None:
    """Take a version from wherever it stands to ready; `heard` is called whenever it gets on.

    Return the space it was embedded in, None if it is there already or gone. Raises
    ExtractionError, FetchError, BackendError or DatabaseError; then the version stays where it is.
    """
    try:
        version = await in_thread(_take_up, version_id)
        if version is None:
            return None
        resumed = version.stage == Stage.EMBEDDING
        if version.stage == Stage.FETCHING:
            await fetch(version)
            await in_thread(ledger.advance, version, Stage.EXTRACTING, bytes=version.size)
        if version.stage == Stage.EXTRACTING:
            path = Path(version.file.path)
            extracted = await extract(path, version.document.name)
            if version.chunk_starts:
                extracted = await in_thread(given.as_it_stands, extracted, path)
            heard()
            await in_thread(_store_text, version, extracted)
        if version.stage == Stage.CHUNKING:
            await in_thread(_chunk, version)
            heard()
        return await _embed(version, heard, resumed=resumed)
    except UnchangedError:
        logger.info("Version %s has the bytes of the one before", version_id)
    except VersionGoneError:
        logger.info("Version %s was deleted while it was being ingested", version_id)
    return None


def _next(version: DocumentVersion) -> Stage:
    """Return the stage to begin with; what was embedded is looked for again before the end."""
    if version.stage in (Stage.QUEUED, Stage.FETCHING):
        return Stage.FETCHING if version.source_url and not version.file else Stage.EXTRACTING
    return Stage.EMBEDDING if version.stage == Stage.FINISHING else Stage(version.stage)


async def _embed(
    version: DocumentVersion, heard: Callable[[], None], *, resumed: bool
) -> EmbeddingSpace:
    """Embed a version in every space that is searched or filled, and let it be searched."""

    def stored(done: Embedded) -> None:
        ledger.progress(version, embedded=done.chunks, tokens=done.tokens)

    chunks = Chunk.objects.filter(version=version)
    while True:
        space, *filling = await in_thread(_targets, version, resumed=resumed)
        await embed_missing(chunks, space, stored=stored, heard=heard)
        for other in filling:
            await _embed_ahead(version, other, heard)
        if await in_thread(_finish, version, space):
            return space
        resumed = True


async def _embed_ahead(
    version: DocumentVersion, space: EmbeddingSpace, heard: Callable[[], None]
) -> None:
    """Embed in a space that is being filled; what fails here is left to its filling."""
    try:
        await in_thread(copy_known, version, space)
        await embed_missing(Chunk.objects.filter(version=version), space, heard=heard)
    except BackendError as error:
        logger.warning("Not embedded for %s yet: %s", space, error.message)


def _take_up(version_id: uuid.UUID) -> DocumentVersion | None:
    version = _load(version_id)
    if version is not None:
        ledger.take_up(version, _next(version))
    return version


def _load(version_id: uuid.UUID) -> DocumentVersion | None:
    return (
        DocumentVersion.objects.select_related("document")
        .filter(pk=version_id, document__deleted_at__isnull=True)
        .exclude(stage__in=ENDED)
        .first()
    )


def _save(version: DocumentVersion, *fields: str) -> None:
    values = {field: getattr(version, field) for field in fields}
    if not DocumentVersion.objects.filter(pk=version.pk).update(**values):
        raise VersionGoneError


def _store_text(version: DocumentVersion, extracted: Extracted) -> None:
    version.text = extracted["text"]
    version.page_starts = extracted["page_starts"]
    version.media_type = extracted["media_type"][:150]
    version.language = normalise(extracted["language"])
    title = label(extracted["title"])
    version.title = "" if NO_TITLE.fullmatch(title) else title
    version.metadata = of_file_itself({**extracted, "title": version.title})
    with transaction.atomic():
        _save(version, "text", "page_starts", "media_type", "language", "title", "metadata")
        ledger.advance(
            version,
            Stage.CHUNKING,
            characters=len(version.text),
            pages=len(version.page_starts),
        )


def _chunk(version: DocumentVersion) -> None:
    """Write all chunks of a version, or none: a second try starts anew."""
    with transaction.atomic():
        ledger.hold(version)
        Chunk.objects.filter(version=version).delete()
        chunks = chunks_of(version)
        version.chunk_count = 0
        while batch := list(islice(chunks, BATCH)):
            Chunk.objects.bulk_create(batch)
            version.chunk_count += len(batch)
        if not version.chunk_count:
            raise ExtractionError("empty")
        version.embedded_count = 0
        _save(version, "chunk_count", "embedded_count")
        ledger.advance(version, Stage.EMBEDDING, chunks=version.chunk_count)


def chunks_of(version: DocumentVersion) -> Iterator[Chunk]:
    """Yield the chunks of a version's text, in order, not saved yet."""
    embedders = [spaces.embedder_of(space) for space in spaces.targets()]
    title = version.title or version.document.title
    cut, starts = (
        (given.passages, version.chunk_starts)
        if version.chunk_starts
        else (passages, version.page_starts)
    )
    found = cut(
        version.text,
        starts,
        count_tokens=lambda text: max(embedder.count_tokens(text) for embedder in embedders),
        window=min(embedder.max_tokens for embedder in embedders),
    )
    for ordinal, passage in enumerate(found):
        yield Chunk(
            version=version,
            ordinal=ordinal,
            text=passage.text,
            heading_path=list(passage.heading_path),
            page_start=passage.page_start,
            page_end=passage.page_end,
            char_start=passage.start,
            char_end=passage.end,
            fulltext=document_vector(
                passage.text,
                title=title,
                heading=" ".join(passage.heading_path),
                language=version.language,
            ),
        )


def _targets(version: DocumentVersion, *, resumed: bool) -> list[EmbeddingSpace]:
    """Return the spaces to embed in, the first one provided with the vectors that are known."""
    space, *filling = spaces.targets()
    if resumed:
        version.embedded_count = ChunkEmbedding.objects.filter(
            chunk__version=version, space=space
        ).count()
        _save(version, "embedded_count")
    if version.number > 1:
        with transaction.atomic():
            if copied := copy_known(version, space):
                ledger.progress(version, copied=copied)
    return [space, *filling]


def _finish(version: DocumentVersion, space: EmbeddingSpace) -> bool:
    """Make the version ready and, in the same transaction, the one that is searched.

    Not if another space than the one it was embedded in is searched by now: then it is to be
    embedded in that one. Return whether it is ready.
    """
    ledger.advance(version, Stage.FINISHING)
    with spaces.locked(shared=True):
        if spaces.current_space() != space:
            ledger.advance(version, Stage.EMBEDDING)
            return False
        document = (
            Document.objects.select_for_update(of=("self",))
            .select_related("current_version")
            .filter(pk=version.document_id, deleted_at__isnull=True)
            .first()
        )
        if document is None:
            raise VersionGoneError
        version.stage = Stage.READY
        version.finished_at = timezone.now()
        _save(version, "stage", "finished_at")
        ledger.finish(version)
        current = document.current_version
        if current is None or current.number < version.number:
            document.current_version = version
            document.title = version.title or title_of(document.name)
            document.save(update_fields=["current_version", "title"])
    return True


def title_of(name: str) -> str:
    """Return a title made of a file's name."""
    return label(PurePath(name).stem.replace("_", " ")) or label(name)
