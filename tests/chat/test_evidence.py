"""A passage in its document, for people to check."""

import pytest
from django.contrib.auth.models import User

from chat.evidence import excerpt
from retrieval.models import Chunk, Collection, Document, DocumentVersion

pytestmark = pytest.mark.django_db

TEXT = "It opens at nine. It closes at\nfive on Fridays. Ring the bell."


@pytest.fixture
def chunks(admin_user: User) -> list[Chunk]:
    """Two chunks of a document, parted in the middle of a sentence."""
    document = Document.objects.create(collection=Collection.objects.create(name="A"), name="a.txt")
    version = DocumentVersion.objects.create(document=document, number=1, size=1, text=TEXT)
    parts = [(0, 30), (31, len(TEXT))]
    return [
        Chunk.objects.create(
            version=version, ordinal=n, text=TEXT[start:end], char_start=start, char_end=end
        )
        for n, (start, end) in enumerate(parts)
    ]


def test_a_quote_is_found_in_its_passage(chunks: list[Chunk], admin_user: User) -> None:
    shown = excerpt(chunks[0], "It opens at nine.", admin_user)
    assert shown is not None
    assert (shown.lead, shown.quote, shown.trail) == ("", "It opens at nine.", " It closes at")


def test_a_quote_that_goes_on_in_the_next_chunk_is_found(
    chunks: list[Chunk], admin_user: User
) -> None:
    """Neighbouring chunks are one passage in a prompt, and a sentence may cross their border."""
    shown = excerpt(chunks[0], "It closes at five on Fridays.", admin_user)
    assert shown is not None
    assert shown.quote == "It closes at\nfive on Fridays."
    assert (shown.lead, shown.trail, shown.after) == ("It opens at nine. ", "", " Ring the bell.")
