"""From an upload to a document that can be searched."""

from collections.abc import Callable

import pytest

from retrieval.ingestion.uploads import Upload
from retrieval.models import Chunk, ChunkEmbedding, Stage

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "# Ducks\n\nDucks swim.\n\n## Food\n\nThey eat weed and insects.\n" * 40


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
    chunks = list(Chunk.objects.ready())
    assert len(chunks) == version.chunk_count == version.embedded_count > 1
    assert ChunkEmbedding.objects.count() == len(chunks)
    assert all(version.text[c.char_start : c.char_end] == c.text for c in chunks)
    assert Chunk.objects.extra(where=["fulltext @@ 'insect'::tsquery"]).exists()
