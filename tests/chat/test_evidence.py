"""A passage in its document, for people to check."""

from typing import Any

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


@pytest.fixture
def run(admin_user: User) -> Run:
    """An answer that says so by number 1, and nothing that was found for it."""
    conversation = Conversation.objects.create(user=admin_user)
    message = Message.objects.create(conversation=conversation, role=Role.ASSISTANT, text="So [1].")
    question = Message.objects.create(conversation=conversation, role=Role.USER, text="How?")
    return Run.objects.create(
        conversation=conversation, question=question, answer=message, user=admin_user
    )


def find(run: Run, rank: int, index: int | None = None, **fields: Any) -> None:
    Candidate.objects.create(run=run, rank=rank, index=index, **{"title": "A", **fields})


def cite(run: Run, ordinal: int, chunk: Chunk, index: int = 1, **fields: Any) -> None:
    Citation.objects.create(
        message=run.answer,
        ordinal=ordinal,
        index=index,
        chunk=chunk,
        title="A",
        span_start=ordinal,
        span_end=ordinal + 1,
        **fields,
    )


def test_a_number_is_one_source_however_many_chunks_it_stands_for(
    chunks: list[Chunk], run: Run
) -> None:
    """Chunks that follow each other were merged; another document says the same."""
    document = Document.objects.create(collection=Collection.objects.get(), name="copy.txt")
    copy = DocumentVersion.objects.create(document=document, number=1, size=1, text=TEXT)
    elsewhere = Chunk.objects.create(version=copy, ordinal=0, text="", char_start=0, char_end=0)
    for rank, chunk in enumerate([*chunks, elsewhere], 1):
        title = "Copy" if chunk == elsewhere else "A"
        find(run, rank, 1, chunk=chunk, title=title, page=rank, scores={"reranked": rank / 10})
    find(run, 4, 2)
    cite(run, 0, chunks[1], page=2, quote="Ring.")
    cite(run, 1, chunks[0], page=1, quote="It opens.")
    cite(run, 2, chunks[0], page=1, quote="It opens.")
    (source,), others = sources(run.answer)
    assert source.cited
    assert source.cited.citations[0].ordinal == 0
    assert source.cited.quotes == ["Ring.", "It opens."]
    assert source.candidate.rank == 2
    assert (source.pages, source.also_in, source.relevance) == ([1, 2], ["Copy"], 0.3)
    assert [other.candidate.rank for other in others] == [4]


def test_chunks_of_a_number_that_is_not_cited_are_one_source_too(
    chunks: list[Chunk], run: Run
) -> None:
    for rank, chunk in enumerate(reversed(chunks), 1):
        find(run, rank, 2, chunk=chunk, page=3 - rank)
    cited, (other,) = sources(run.answer)
    assert (cited, other.pages, other.candidate.rank) == ([], [1, 2], 1)


def test_sources_are_in_order_of_their_numbers(chunks: list[Chunk], run: Run) -> None:
    for number in (1, 2):
        find(run, number, number, chunk=chunks[number - 1])
    cite(run, 0, chunks[1], index=2)
    cite(run, 1, chunks[0])
    cited, others = sources(run.answer)
    assert ([source.candidate.index for source in cited], others) == ([1, 2], [])


def test_what_else_was_found_is_in_order_of_score_without_one_last(run: Run) -> None:
    """What the reranker did not look at has its similarity, which is of another scale."""
    scores = [{"reranked": 0.2}, {}, {"vector": 0.5}, {"reranked": 0.4, "vector": 0.1}]
    for rank, found in enumerate([*scores, {"vector": 0.9}], 1):
        find(run, rank, scores=found)
    _, others = sources(run.answer)
    assert [other.candidate.rank for other in others] == [4, 1, 5, 3, 2]
