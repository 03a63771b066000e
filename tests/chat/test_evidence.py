"""A passage in its document, for people to check."""

import pytest
from django.contrib.auth.models import User

from chat.evidence import sources
from chat.excerpts import excerpt
from chat.models import Candidate, Citation, Conversation, Message, Role, Run
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
    shown = excerpt(chunks[0], admin_user, "It opens at nine.")
    assert shown is not None
    assert (shown.lead, shown.quote, shown.trail) == ("", "It opens at nine.", " It closes at")


def test_a_quote_that_goes_on_in_the_next_chunk_is_found(
    chunks: list[Chunk], admin_user: User
) -> None:
    """Neighbouring chunks are one passage in a prompt, and a sentence may cross their border."""
    shown = excerpt(chunks[0], admin_user, "It closes at five on Fridays.")
    assert shown is not None
    assert shown.quote == "It closes at\nfive on Fridays."
    assert (shown.lead, shown.trail, shown.below.text) == (
        "It opens at nine. ",
        "",
        " Ring the bell.",
    )


def test_a_passage_is_cited_in_each_of_its_documents_and_there_by_the_chunk_that_is(
    chunks: list[Chunk], admin_user: User
) -> None:
    """A passage may stand for several chunks; one of them holds the cited sentence."""
    conversation = Conversation.objects.create(user=admin_user)
    message = Message.objects.create(conversation=conversation, role=Role.ASSISTANT, text="So [1].")
    question = Message.objects.create(conversation=conversation, role=Role.USER, text="How?")
    run = Run.objects.create(
        conversation=conversation, question=question, answer=message, user=admin_user
    )
    document = Document.objects.create(
        collection=Collection.objects.get(), name="copy.txt", title="Copy"
    )
    copy = DocumentVersion.objects.create(document=document, number=1, size=1, text=TEXT)
    elsewhere = Chunk.objects.create(version=copy, ordinal=0, text="", char_start=0, char_end=0)
    for rank, chunk in enumerate([*chunks, elsewhere], 1):
        Candidate.objects.create(run=run, rank=rank, index=1, chunk=chunk, title="A", snippet="")
    Candidate.objects.create(run=run, rank=4, index=2, title="B", snippet="")
    Citation.objects.create(
        message=message, ordinal=0, index=1, chunk=chunks[1], span_start=3, span_end=6
    )
    cited, others = sources(message)
    assert [(source.candidate.rank, source.ordinal) for source in cited] == [(2, 0), (3, None)]
    assert [source.candidate.rank for source in others] == [1, 4]
