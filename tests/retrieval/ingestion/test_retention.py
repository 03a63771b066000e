"""What is kept of documents that were replaced or deleted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from chat.models import Citation, Conversation, Message
from retrieval.ingestion.retention import delete, enforce
from retrieval.ingestion.retrying import retry
from retrieval.ingestion.uploads import Upload
from retrieval.models import Chunk, ChunkEmbedding, Document, DocumentVersion, Stage

pytestmark = pytest.mark.django_db(transaction=True)
Uploader = Callable[[str, bytes], Upload]
Run = Callable[[], None]
LONG_AGO = timedelta(days=400)


@pytest.fixture
def versions(upload: Uploader, run_worker: Run, settings: Settings) -> list[DocumentVersion]:
    """Four versions of one document, all ready and long ago; none but the last is kept."""
    settings.OLD_VERSIONS_KEPT = settings.OLD_VERSIONS_DAYS = 0
    found = []
    for number in range(4):
        found.append(upload("a.txt", b"Version %d." % number).version)
        run_worker()
    DocumentVersion.objects.update(finished_at=timezone.now() - LONG_AGO)
    return found


def numbers() -> list[int]:
    return sorted(DocumentVersion.objects.values_list("number", flat=True))


def cite(version: DocumentVersion) -> Citation:
    """Let an answer cite a version."""
    user = User.objects.get_or_create(username="reader")[0]
    message = Message.objects.create(
        conversation=Conversation.objects.create(user=user), role="assistant"
    )
    return Citation.objects.create(
        message=message, ordinal=0, index=1, chunk=version.chunks.get(), version=version,
        title="A", quote="Version", span_start=0, span_end=3,
    )  # fmt: skip


def test_old_versions_go_with_text_and_file(versions: list[DocumentVersion]) -> None:
    """What no setting keeps is deleted, the version that is searched never is."""
    files = [Path(version.file.path) for version in versions]
    enforce()
    assert numbers() == [4]
    assert [file.exists() for file in files] == [False, False, False, True]
    assert Chunk.objects.ready().get().text == "Version 3."


def test_the_newest_old_versions_are_kept(
    versions: list[DocumentVersion], settings: Settings
) -> None:
    """As many as the setting says, without their vectors: nobody searches them."""
    settings.OLD_VERSIONS_KEPT = 2
    enforce()
    assert numbers() == [2, 3, 4]
    kept = ChunkEmbedding.objects.values_list("chunk__version__number", flat=True)
    assert list(kept) == [4]


def test_versions_replaced_lately_are_kept(
    versions: list[DocumentVersion], settings: Settings
) -> None:
    """What counts is when a version was replaced, not when it was made."""
    settings.OLD_VERSIONS_DAYS = 30
    DocumentVersion.objects.filter(number=4).update(finished_at=timezone.now())
    enforce()
    assert numbers() == [3, 4]


def test_cited_version_stays_openable(versions: list[DocumentVersion], settings: Settings) -> None:
    """An answer's source is kept for as long as there is the answer, or as the setting says."""
    citation = cite(versions[0])
    enforce()
    citation.refresh_from_db()
    assert (citation.version, numbers()) == (versions[0], [1, 4])
    assert citation.chunk is not None
    settings.CITED_VERSIONS_DAYS = 30
    enforce()
    assert numbers() == [1, 4]
    Message.objects.update(created_at=timezone.now() - LONG_AGO)
    enforce()
    assert numbers() == [4]
    citation.refresh_from_db()
    assert (citation.version, citation.quote) == (None, "Version")


def test_failed_version_that_was_replaced_goes(upload: Uploader, versions: object) -> None:
    """A failed one before the current one is old; the newest may still be retried."""
    DocumentVersion.objects.filter(number=2).update(stage=Stage.FAILED)
    newest = upload("a.txt", b"\n").version
    DocumentVersion.objects.filter(pk=newest.pk).update(stage=Stage.FAILED)
    enforce()
    assert numbers() == [4, 5]


def test_deleted_document_is_gone_at_once(upload: Uploader, run_worker: Run) -> None:
    """Its vectors, text and file go with it."""
    taken = upload("a.txt", b"Ducks swim.")
    run_worker()
    file = Path(taken.version.file.path)
    assert delete(Document.objects.all()) == 1
    assert not Document.with_deleted.exists()
    assert not ChunkEmbedding.objects.exists()
    assert not file.exists()


def test_deleted_document_is_kept_for_answers(
    upload: Uploader, run_worker: Run, settings: Settings
) -> None:
    """Out of search at once, its vectors gone; answers open it until its time is over."""
    settings.DELETED_DOCUMENTS_DAYS = 7
    version = upload("a.txt", b"Ducks swim.").version
    run_worker()
    citation = cite(version)
    delete(Document.objects.all())
    assert not Document.objects.exists()
    assert not Chunk.objects.ready().exists()
    assert not ChunkEmbedding.objects.exists()
    enforce()
    citation.refresh_from_db()
    assert citation.version is not None
    assert citation.version.text == "Ducks swim."
    assert Path(version.file.path).exists()
    Document.with_deleted.update(deleted_at=timezone.now() - LONG_AGO)
    enforce()
    assert not Document.with_deleted.exists()


def test_the_name_of_a_deleted_document_is_free(
    upload: Uploader, run_worker: Run, settings: Settings
) -> None:
    """The same file may be uploaded again, as a document of its own."""
    settings.DELETED_DOCUMENTS_DAYS = 7
    first = upload("a.txt", b"Ducks swim.")
    delete(Document.objects.all())
    second = upload("a.txt", b"Ducks swim.")
    run_worker()
    assert (second.unchanged, second.document == first.document) == (False, False)
    assert Document.objects.get().current_version == second.version
    DocumentVersion.objects.filter(pk=first.version.pk).update(stage=Stage.FAILED)
    assert retry(first.version) is False
