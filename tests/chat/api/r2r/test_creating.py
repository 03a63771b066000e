"""Files, texts and chunks that the R2R SDK adds, and what it is refused."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from uuid_utils.compat import uuid7

from tests.chat.api.conftest import Live
from tests.chat.api.r2r import sdk
from tests.chat.api.r2r.conftest import add, refused

pytestmark = [
    pytest.mark.usefixtures("as_it_was"),
    # What the SDK sends a body with, its HTTP client would have it say otherwise.
    pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning"),
]

CHUNKS = ["The lighthouse of Falsterbo has 134 steps.", "# Keeper\n\nIts keeper is Elin.", "Short."]


def test_file_becomes_a_document(live: Live, client: Any, tmp_path: Path) -> None:
    path = tmp_path / "harbour.md"
    path.write_text("# The harbour\n\nThe harbour of Helsingborg is 11 metres deep.\n")
    key = add(live, client, file_path=str(path), metadata={"year": 1999}, ingestion_mode="fast")
    found = client.documents.retrieve(key).results
    assert (found.id, found.title, found.document_type.value) == (key, "The harbour", "md")
    assert found.ingestion_status == sdk.IngestionStatus.SUCCESS
    assert found.collection_ids == [live.collection.pk]
    assert found.owner_id == client.users.me().results.id
    assert found.metadata["year"] == 1999
    assert found.size_in_bytes == path.stat().st_size
    assert client.documents.download(key).getvalue() == path.read_bytes()
    search = client.retrieval.search(
        "How deep is the harbour?", search_settings={"filters": {"year": 1999}}
    )
    assert [each.document_id for each in search.results.chunk_search_results] == [key]
    assert client.documents.delete(key).results.success
    assert refused(client.documents.retrieve, key)[0] == 404


def test_text_becomes_a_document(live: Live, client: Any) -> None:
    """Two of one title are two documents; the second has a name of its own."""
    about = {
        "raw_text": "The ferry to Ven takes 30 minutes. Åäö 🦆",
        "metadata": {"title": "Ferry"},
    }
    first, second = add(live, client, **about), add(live, client, **about)
    assert first != second
    assert client.documents.retrieve(first).results.title == "Ferry"
    assert client.documents.download(first).getvalue().decode() == about["raw_text"]
    for each in (first, second):
        client.documents.delete(each)


def test_text_is_taken_without_what_cannot_be_stored(live: Live, client: Any) -> None:
    """With a NUL in it its file would look like none of text."""
    key = add(live, client, raw_text="The ferry\0 leaves at 8.")
    found = client.documents.retrieve(key).results
    assert found.ingestion_status == sdk.IngestionStatus.SUCCESS
    assert client.documents.download(key).getvalue() == b"The ferry leaves at 8."


def test_long_text_is_taken(live: Live, client: Any) -> None:
    """Of five megabytes, twice what Django's forms may have."""
    text = "Each line says något.\n" * (5 * 2**20 // 23)
    taken = client.documents.create(raw_text=text, collection_ids=[live.collection.pk]).results
    assert client.documents.retrieve(taken.document_id).results.size_in_bytes == len(text.encode())
    assert client.documents.retrieve(taken.document_id).results.ingestion_status.value == "pending"
    client.documents.delete(taken.document_id)


def test_chunks_stay_as_they_are(live: Live, client: Any) -> None:
    said = {"title": "Lighthouses", "year": 1796}
    key = add(live, client, chunks=CHUNKS, metadata=said)
    document = client.documents.retrieve(key).results
    assert (document.title, document.metadata["year"]) == ("Lighthouses", 1796)
    listed = client.documents.list_chunks(key)
    assert ([each.text for each in listed.results], listed.total_entries) == (CHUNKS, 3)
    assert [each.metadata["chunk_order"] for each in listed.results] == [0, 1, 2]
    (second,) = client.documents.list_chunks(key, offset=1, limit=1, include_vectors=True).results
    assert (second.text, len(second.vector)) == (CHUNKS[1], 256)
    assert client.chunks.retrieve(second.id).results.text == CHUNKS[1]
    found = client.retrieval.search("Who is the keeper?").results.chunk_search_results
    assert found[0].id == second.id
    client.documents.delete(key)
    assert refused(client.chunks.retrieve, second.id)[0] == 404


def test_id_can_be_chosen_once(live: Live, client: Any, tmp_path: Path) -> None:
    """Of a text, of chunks, and of a file."""
    path = tmp_path / "mine.txt"
    path.write_text("Mine.")
    contents: list[dict[str, Any]] = [
        {"raw_text": "Mine."}, {"chunks": CHUNKS}, {"file_path": str(path)},
    ]  # fmt: skip
    for content in contents:
        key = uuid7()
        assert add(live, client, **content, id=key) == key
        status, message = refused(add, live, client, **content, id=key)
        assert (status, "already" in message) == (409, True)


def test_documents_go_to_ones_own_collection_unless_one_is_named(
    live: Live, client: Any, other: Any
) -> None:
    """Which nobody else sees; who may not add documents gets none."""
    from retrieval.audit.models import AuditEvent  # noqa: PLC0415

    key = client.documents.create(raw_text="Only mine.").results.document_id
    again = client.documents.create(raw_text="Mine, too.", collection_ids=[]).results.document_id
    (own,) = {*client.documents.retrieve(key).results.collection_ids}
    assert client.documents.retrieve(again).results.collection_ids == [own]
    assert own != live.collection.pk
    assert AuditEvent.objects.filter(action="collection.added", target_id=own).count() == 1
    live.ingest()
    assert refused(other.documents.retrieve, key)[0] == 404
    assert refused(other.documents.create, raw_text="Mine.") == (403, "You may not add documents.")
    for each in (key, again):
        client.documents.delete(each)


@pytest.mark.parametrize(
    ("about", "status", "said"),
    [
        ({"raw_text": "x", "id": "seven"}, 422, "UUID"),
        ({"raw_text": "x", "collection_ids": ["seven"]}, 422, "UUID"),
        ({"raw_text": "x", "collection_ids": [str(UUID(int=5))]}, 404, ""),
        ({"raw_text": "x", "collection_ids": [str(UUID(int=5))] * 2}, 422, "collection_ids"),
        ({"raw_text": "x", "metadata": {"a.b": 1}}, 422, "a.b"),
        ({"raw_text": "x", "metadata": {"a": ["\0"]}}, 422, "characters"),
        ({"chunks": ["x"], "metadata": {"a": "\ud800"}}, 422, "characters"),
        ({"raw_text": " \n"}, 422, "no text"),
        ({"raw_text": "\0"}, 422, "no text"),
        ({"chunks": ["one", " "]}, 422, "Chunk 2"),
        ({"chunks": ["\0\ud800"]}, 422, "Chunk 1"),
    ],
)
def test_what_is_no_document_is_refused(client: Any, about: Any, status: int, said: str) -> None:
    got, message = refused(client.documents.create, **about)
    assert got == status
    assert said in message


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({}, "body"),
        ({"raw_text": "x", "chunks": '["y"]'}, "body"),
        ({"chunks": "[1]"}, "chunks"),
        ({"chunks": "none"}, "chunks"),
        ({"raw_text": "x", "metadata": "[]"}, "metadata"),
        ({"raw_text": "x", "metadata": '{"a": NaN}'}, "metadata"),
        ({"raw_text": "x", "ingestion_config": "fast"}, "ingestion_config"),
    ],
)
def test_forms_that_no_sdk_sends_are_refused(live: Live, form: Any, field: str) -> None:
    with live.client() as plain:
        answer = plain.post("/r2r/v3/documents", data=form)
    assert answer.status_code == 422
    assert answer.json()["detail"]["message"].startswith(f"{field}: ")


def test_file_that_is_too_large_is_refused(live: Live, client: Any, tmp_path: Path) -> None:
    from django.test.utils import override_settings  # noqa: PLC0415

    path = tmp_path / "large.txt"
    path.write_text("x" * 2000)
    with override_settings(UPLOAD_MAX_BYTES=1000):
        status, message = refused(client.documents.create, file_path=str(path))
        assert (status, "larger" in message) == (413, True)
        assert refused(client.documents.create, raw_text="x" * 2000)[0] == 413


def test_async_client_adds_documents(live: Live) -> None:
    async def add() -> Any:
        async with sdk.R2RAsyncClient(f"{live.base_url}/r2r", timeout=20) as client:
            client.set_api_key(live.token)
            taken = await client.documents.create(chunks=CHUNKS)
            key = taken.results.document_id
            await client.documents.append_metadata(key, [{"year": 1}])
            found = await client.documents.retrieve(key)
            await client.documents.delete(key)
            return found.results

    assert asyncio.run(add()).metadata["year"] == 1
