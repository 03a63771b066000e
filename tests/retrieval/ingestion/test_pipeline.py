"""From an upload to a document that can be searched."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection

from retrieval.ingestion.indexes import index_name
from retrieval.ingestion.pipeline import title_of
from retrieval.ingestion.retrying import retry
from retrieval.ingestion.uploads import Upload
from retrieval.models import Chunk, ChunkEmbedding, Document, EmbeddingSpace, Stage

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "# Ducks\n\nDucks swim.\n\n## Food\n\nThey eat weed and insects, every single day.\n" * 40


def test_upload_becomes_ready(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None]
) -> None:
    """A text is chunked, embedded, made searchable and current."""
    document = upload("ducks.md", TEXT.encode()).document
    run_worker()
    document.refresh_from_db()
    version = document.current_version
    assert version is not None
    assert (version.stage, version.error_message) == (Stage.READY, "")
    assert (document.title, version.language) == ("Ducks", "en")
    chunks = list(Chunk.objects.ready())
    assert [chunk.ordinal for chunk in chunks] == list(range(version.chunk_count))
    assert len(chunks) == version.embedded_count > 1
    assert ChunkEmbedding.objects.count() == len(chunks)
    assert all(version.text[c.char_start : c.char_end] == c.text for c in chunks)
    assert Chunk.objects.extra(where=["fulltext @@ 'insect'::tsquery"]).exists()


def test_pdf_chunks_know_their_pages(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None], data: Path
) -> None:
    """Every chunk of a PDF stands on a page, and every page has a chunk."""
    upload("four.pdf", (data / "four-pages.pdf").read_bytes())
    run_worker()
    covered = {
        page
        for chunk in Chunk.objects.ready()
        for page in range(chunk.page_start or 0, (chunk.page_end or 0) + 1)
    }
    assert covered == {1, 2, 3, 4}


def test_index_is_built(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None]
) -> None:
    """The first document of a space brings its vector index."""
    upload("a.txt", b"Some text.")
    run_worker()
    space = EmbeddingSpace.objects.get()
    assert space.indexed
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [index_name(space)])
        ((definition,),) = cursor.fetchall()
    assert "hnsw" in definition
    assert f"space_id = {space.pk}" in definition


def test_one_broken_file_does_not_hold_up_the_others(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None]
) -> None:
    """A file that cannot be read fails with its reason; its neighbours become ready."""
    good, bad, other = upload("a.txt", b"One."), upload("b.pdf", b"%PDF-"), upload("c.txt", b"Two.")
    run_worker()
    for taken in (good, bad, other):
        taken.version.refresh_from_db()
    assert good.version.stage == other.version.stage == Stage.READY
    assert (bad.version.stage, bad.version.error_code) == (Stage.FAILED, "corrupt")
    assert bad.version.finished_at is not None


def test_new_version_replaces_the_old_one(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None]
) -> None:
    """Search sees the new version only; the old one's chunks stay for old citations."""
    first = upload("a.txt", b"The old text.")
    run_worker()
    upload("a.txt", b"The new text.")
    assert [chunk.text for chunk in Chunk.objects.ready()] == ["The old text."]
    run_worker()
    assert [chunk.text for chunk in Chunk.objects.ready()] == ["The new text."]
    assert first.version.chunks.count() == 1


def test_failed_version_leaves_the_old_one(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None]
) -> None:
    """When the new version cannot be read, the old one is still searched."""
    upload("a.txt", b"The old text.")
    run_worker()
    failed = upload("a.txt", b"\n")
    run_worker()
    failed.version.refresh_from_db()
    assert failed.version.stage == Stage.FAILED
    assert [chunk.text for chunk in Chunk.objects.ready()] == ["The old text."]


def test_late_old_version_does_not_win(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None]
) -> None:
    """An old version that is retried after a newer one is ready does not replace it."""
    first = upload("a.txt", b"The old text.")
    upload("a.txt", b"The new text.")
    run_worker()
    retry(first.version)
    run_worker()
    first.version.refresh_from_db()
    assert (first.version.stage, first.version.chunks.count()) == (Stage.READY, 1)
    assert [chunk.text for chunk in Chunk.objects.ready()] == ["The new text."]


def test_deleting_while_queued(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None]
) -> None:
    """A document that is gone before its turn is passed over."""
    upload("a.txt", b"Some text.").document.delete()
    run_worker()
    assert not Document.objects.exists()


def test_title_of_a_file_name() -> None:
    """A name is a title once underscores and suffix are gone."""
    assert title_of("folder/annual_report  2025.pdf") == "annual report 2025"


def test_file_says_what_it_is(
    upload: Callable[[str, bytes], Upload], run_worker: Callable[[], None], data: Path
) -> None:
    """Author, date, language, type and pages come from the file; what people say is kept apart."""
    document = upload("slides.pptx", (data / "slides.pptx").read_bytes()).document
    Document.objects.update(metadata={"author": "Ann"})
    run_worker()
    document.refresh_from_db()
    assert document.metadata == {"author": "Ann"}
    assert document.current_version is not None
    assert document.current_version.metadata == {
        "author": ["Maxim Lysak"],
        "date": "2024-09-26T09:15:16Z",
        "modified": "2024-10-23T12:37:59Z",
        "language": "en",
        "type": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "page_count": 3,
    }
