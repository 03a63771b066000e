"""Documents that are added as chunks."""

from collections.abc import Callable, Sequence
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from uuid_utils.compat import uuid7

from retrieval.ingestion import given
from retrieval.ingestion.uploads import Upload, UploadError, add_document
from retrieval.models import Chunk, Collection, Document, Stage
from tests.fakes import HashEmbedder

pytestmark = pytest.mark.django_db(transaction=True)


def add(
    collection: Collection,
    chunks: Sequence[str],
    name: str = "a.txt",
    id: UUID | None = None,  # noqa: A002
) -> Upload:
    content, starts = given.joined(chunks)
    file = ContentFile(content, name)
    return add_document(collection, name, file, id=id, chunk_starts=starts)


def test_chunks_stay_as_they_were_given(
    collection: Collection, run_worker: Callable[[], None]
) -> None:
    """Short ones are not joined, headings and blank lines do not cut them, the text is whole."""
    chunks = ["One.", "# Two\n\nwith a heading\r\n\r\nand more", "  Три 🦆  ", "…"]
    version = add(collection, chunks).version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_message) == (Stage.READY, "")
    found = list(Chunk.objects.ready())
    assert [chunk.text for chunk in found] == [
        "One.",
        "# Two\n\nwith a heading\n\nand more",
        "Три 🦆",
        "…",
    ]
    assert all(version.text[c.char_start : c.char_end] == c.text for c in found)
    assert (version.media_type, version.page_starts) == ("text/plain", [])


def test_what_looks_like_another_format_is_text(
    collection: Collection, run_worker: Callable[[], None]
) -> None:
    """A reader of that format would leave out the marks."""
    add(collection, ["<html><body><p>Hello there", "you</p></body></html>"])
    run_worker()
    assert [chunk.text for chunk in Chunk.objects.ready()] == [
        "<html><body><p>Hello there",
        "you</p></body></html>",
    ]


def test_chunk_that_no_model_reads_at_once_is_cut(
    collection: Collection, run_worker: Callable[[], None]
) -> None:
    """Else its end would be in no vector."""
    long = " ".join(f"word{number}" for number in range(HashEmbedder.max_tokens))
    version = add(collection, ["before", long, "after"]).version
    run_worker()
    version.refresh_from_db()
    found = [chunk.text for chunk in Chunk.objects.ready()]
    assert (found[0], found[-1]) == ("before", "after")
    assert len(found) > 3
    assert " ".join(found[1:-1]) == long
    assert all(version.text[c.char_start : c.char_end] == c.text for c in Chunk.objects.ready())


@pytest.mark.parametrize("chunks", [[], ["one", " \n"], ["\x00"], ["a"] * (given.MOST_CHUNKS + 1)])
def test_chunks_that_say_nothing_are_refused(chunks: list[str]) -> None:
    with pytest.raises(UploadError) as refused:
        given.joined(chunks)
    assert refused.value.code == "empty"


def test_same_text_cut_otherwise_is_a_new_version(collection: Collection) -> None:
    """The same chunks again are not."""
    first = add(collection, ["one", "two", "three"])
    again = add(collection, ["one", "two", "three"])
    other = add(collection, ["one\n\ntwo", "three"])
    assert (again.unchanged, again.version) == (True, first.version)
    assert (other.unchanged, other.version.number) == (False, 2)


def test_document_of_a_chosen_id_has_a_name_of_its_own(collection: Collection) -> None:
    first, second = uuid7(), uuid7()
    add(collection, ["one"], id=first)
    add(collection, ["two"], id=second)
    names = dict(Document.objects.values_list("id", "name"))
    assert names == {first: "a.txt", second: "a (2).txt"}


def test_id_is_taken_once(collection: Collection) -> None:
    """In whatever collection the document is."""
    elsewhere = Collection.objects.create(name="Elsewhere")
    taken = add(elsewhere, ["one"]).document.id
    with pytest.raises(UploadError) as refused:
        add(collection, ["two"], id=taken)
    assert refused.value.code == "exists"
    assert Document.objects.count() == 1
