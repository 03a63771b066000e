"""Documents, chunks, collections and conversations with the R2R SDK."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from uuid_utils.compat import uuid7

from tests.chat.api.conftest import Live
from tests.chat.api.r2r import sdk

# What the SDK sends a body with, its HTTP client would have it say otherwise.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

CHUNKS = ["The lighthouse of Falsterbo has 134 steps.", "# Keeper\n\nIts keeper is Elin.", "Short."]


@pytest.fixture(autouse=True)
def _as_it_was(live: Live) -> Iterator[None]:
    """Leave the site to the next test as it was, whatever became of this one."""
    yield
    from chat.models import Conversation  # noqa: PLC0415
    from retrieval.models import Collection, Document  # noqa: PLC0415

    own = [each.pk for each in live.documents.values()]
    Document.with_deleted.exclude(pk__in=own).delete()
    Collection.objects.exclude(pk=live.collection.pk).delete()
    Conversation.with_deleted.all().delete()


def add(live: Live, client: Any, **about: Any) -> UUID:
    """Return the id of a document that is added and ready."""
    taken = client.documents.create(collection_ids=[live.collection.pk], **about).results
    live.ingest()
    return taken.document_id  # type: ignore[no-any-return]


def refused(call: Any, *given: Any, **named: Any) -> tuple[int, str]:
    """Return the status and the message of what a call is refused with."""
    with pytest.raises(sdk.R2RException) as error:
        call(*given, **named)
    return error.value.status_code, error.value.message


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
    key = add(live, client, chunks=CHUNKS)
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


def test_id_can_be_chosen_once(live: Live, client: Any) -> None:
    key = uuid7()
    assert add(live, client, raw_text="Mine.", id=key) == key
    status, message = refused(add, live, client, raw_text="Another.", id=key)
    assert (status, "already" in message) == (409, True)
    client.documents.delete(key)


def test_documents_go_to_ones_own_collection_unless_one_is_named(
    live: Live, client: Any, other: Any
) -> None:
    """Which nobody else sees; who may not add documents gets none."""
    key = client.documents.create(raw_text="Only mine.").results.document_id
    again = client.documents.create(raw_text="Mine, too.").results.document_id
    (own,) = {*client.documents.retrieve(key).results.collection_ids}
    assert client.documents.retrieve(again).results.collection_ids == [own]
    assert own != live.collection.pk
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
        ({"raw_text": " \n"}, 422, "no text"),
        ({"raw_text": "\0"}, 422, "no text"),
        ({"chunks": ["one", " "]}, 422, "Chunk 2"),
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


def test_documents_are_listed(live: Live, client: Any, other: Any) -> None:
    ready = [each.pk for each in live.documents.values()]
    listed = client.documents.list()
    assert (sorted(each.id for each in listed.results), listed.total_entries) == (sorted(ready), 3)
    part = client.documents.list(offset=1, limit=1)
    assert ([each.id for each in part.results], part.total_entries) == ([listed.results[1].id], 3)
    some = client.documents.list(ids=ready[:2])
    assert (sorted(each.id for each in some.results), some.total_entries) == (sorted(ready[:2]), 2)
    assert other.documents.list().total_entries == 3
    assert other.documents.list(owner_only=True).total_entries == 0
    assert refused(client.documents.list, limit=1001)[0] == 422
    assert refused(client.documents.list, ids=["seven"])[0] == 422


def test_only_who_manages_a_collection_changes_it(live: Live, other: Any) -> None:
    key = live.documents["mill.md"].pk
    for call in (
        lambda: other.documents.delete(key),
        lambda: other.documents.append_metadata(key, [{"a": 1}]),
        lambda: other.documents.delete_by_filter({"name": "mill.md"}),
        lambda: other.documents.create(raw_text="x", collection_ids=[live.collection.pk]),
    ):
        assert refused(call)[0] == 403
    assert other.documents.retrieve(key).results.id == key


def test_metadata_is_set_over_or_in_place_of_what_was_said(live: Live, client: Any) -> None:
    key = add(live, client, raw_text="The canal.", metadata={"year": 1832, "kind": "canal"})
    found = client.documents.append_metadata(key, [{"year": 1833}, {"locks": 58}]).results
    said = {name: found.metadata.get(name) for name in ("year", "kind", "locks")}
    assert said == {"year": 1833, "kind": "canal", "locks": 58}
    found = client.documents.replace_metadata(key, [{"year": 1834}]).results
    said = {name: found.metadata.get(name) for name in ("year", "kind", "locks")}
    assert said == {"year": 1834, "kind": None, "locks": None}
    assert refused(client.documents.append_metadata, key, ["year"])[0] == 422
    assert refused(client.documents.append_metadata, key, [{"a.b": 1}])[0] == 422
    client.documents.delete(key)


def test_documents_are_deleted_by_a_filter(live: Live, client: Any) -> None:
    """Those it holds for, and no others."""
    old, new = (
        add(live, client, raw_text=f"From {year}.", metadata={"year": year})
        for year in (1900, 2000)
    )
    assert client.documents.delete_by_filter({"metadata.year": {"$lt": 1950}}).results.success
    assert refused(client.documents.retrieve, old)[0] == 404
    assert client.documents.retrieve(new).results.id == new
    assert client.documents.delete_by_filter({"year": {"$ne": 2001}, "document_id": str(new)})
    assert client.documents.list().total_entries == 3


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b"{", b'{"filters": {}}', b'{"year": {"$near": 1}}', b"\xff"],
)
def test_unreadable_filter_never_means_all(live: Live, client: Any, body: bytes) -> None:
    with live.client() as plain:
        answer = plain.request("DELETE", "/r2r/v3/documents/by-filter", content=body)
    assert answer.status_code == 422
    assert answer.json()["detail"]["message"]
    assert client.documents.list().total_entries == 3


def test_downloads_are_bytes_even_of_json(live: Live, client: Any, tmp_path: Path) -> None:
    """Else the SDK would read them."""
    path = tmp_path / "ferry.json"
    path.write_text('{"ferry": "to Ven"}')
    key = add(live, client, file_path=str(path))
    assert client.documents.download(key).getvalue() == path.read_bytes()
    client.documents.delete(key)


def test_collections_are_listed(live: Live, client: Any) -> None:
    found = client.collections.retrieve(live.collection.pk).results
    assert (found.id, found.name, found.document_count) == (live.collection.pk, "Buildings", 3)
    assert found.id in [each.id for each in client.collections.list().results]
    assert client.collections.retrieve_by_name("Buildings").results.id == found.id
    assert client.collections.list_documents(found.id).total_entries == 3
    document = live.documents["mill.md"].pk
    assert [each.id for each in client.documents.list_collections(document).results] == [found.id]
    assert refused(client.collections.retrieve, UUID(int=5))[0] == 404


def test_conversations_are_kept(live: Live, client: Any, other: Any) -> None:
    made = client.conversations.create(name="Lund").results
    assert made.name == "Lund"
    assert made.user_id == client.users.me().results.id
    assert client.conversations.create().results.name is None
    listed = client.conversations.list()
    assert made.id in [each.id for each in listed.results]
    assert listed.total_entries == 2
    assert client.conversations.update(made.id, "Ystad").results.name == "Ystad"
    assert client.conversations.retrieve(made.id).results == []
    for call in (other.conversations.retrieve, other.conversations.delete):
        assert refused(call, made.id)[0] == 404
    for each in listed.results:
        assert client.conversations.delete(each.id).results.success
    assert refused(client.conversations.retrieve, made.id)[0] == 404


def test_conversation_has_its_messages(live: Live, client: Any) -> None:
    """What was asked elsewhere, with what its answers cite."""
    from chat import runs  # noqa: PLC0415
    from chat.client_messages import Ask  # noqa: PLC0415

    async def ask() -> Any:
        run = await runs.start(live.user, Ask(type="ask", text="How high is the tower of Lund?"))
        async with aclosing(runs.follow(live.user, run.pk)) as frames:
            assert [frame async for frame in frames][-1].type == "done"
        return run

    run = live.site.run(ask())
    live.site.rest()
    question, answer = client.conversations.retrieve(run.conversation_id).results
    assert (str(question.message.role), question.message.content) == (
        "user", "How high is the tower of Lund?",
    )  # fmt: skip
    assert (answer.id, str(answer.message.role)) == (run.answer_id, "assistant")
    (cited,) = answer.metadata["citations"]
    span = cited["span"]
    assert answer.message.content[span["start"] : span["end"]] == f"[{cited['id']}]"
    client.conversations.delete(run.conversation_id)


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


def test_base_with_a_slash_at_its_end_works(live: Live, connect: Any) -> None:
    """The SDK puts a second one behind it."""
    client = connect(live.token, base="/r2r/")
    assert client.system.health().results.message == "ok"
    assert client.documents.list().total_entries == 3
    events = list(client.retrieval.rag("How high is it?", rag_generation_config={"stream": True}))
    assert events[-1] is None
    key = client.documents.create(raw_text="Two slashes.").results.document_id
    assert client.documents.delete(key).results.success


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/r2r/v3/documents/", 404),
        ("GET", "/r2r/v3/nothing", 404),
        ("GET", "/r2r//v3/nothing", 404),
        ("GET", "/r2r/v2/documents", 404),
        ("GET", "/r2r/v3/documents/seven", 404),
        ("PUT", "/r2r/v3/documents", 405),
        ("POST", "/r2r/v3/retrieval/search", 422),
        ("POST", "/r2r/v3/retrieval/rag", 422),
        ("GET", "/r2r/v3/collections/name/%00", 404),
    ],
)
def test_what_is_wrong_is_told_in_one_shape(
    live: Live, method: str, path: str, status: int
) -> None:
    """Without being led elsewhere, or given a cookie."""
    with live.client() as plain:
        answer = plain.request(method, path, content=b"[")
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.json()["detail"]) == {"message", "error_type"}
    assert "Set-Cookie" not in answer.headers


def test_answers_are_ascii(live: Live, client: Any) -> None:
    client.conversations.create(name="Malmö\u2028🦆")
    with live.client() as plain:
        answer = plain.get("/r2r/v3/conversations")
    assert answer.text.isascii()
    (found,) = client.conversations.list().results
    assert found.name.startswith("Malmö")
    client.conversations.delete(found.id)
