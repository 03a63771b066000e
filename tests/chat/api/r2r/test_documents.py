"""Documents, chunks, collections and conversations with the R2R SDK."""

from contextlib import aclosing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.chat.api.conftest import Live
from tests.chat.api.r2r.conftest import add, refused

pytestmark = [
    pytest.mark.usefixtures("as_it_was"),
    # What the SDK sends a body with, its HTTP client would have it say otherwise.
    pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning"),
]


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
    assert refused(client.documents.replace_metadata, key, [{"a": {"b": "\0"}}])[0] == 422
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


def test_download_is_recorded_once_whatever_parts_it_comes_in(live: Live) -> None:
    """And nothing on the way keeps it, as who may have it is asked each time."""
    from retrieval.audit.models import AuditEvent  # noqa: PLC0415

    path = f"/r2r/v3/documents/{live.documents['mill.md'].pk}/download"
    recorded = AuditEvent.objects.filter(action="file.downloaded")
    before = recorded.count()
    with live.client() as plain:
        whole = plain.get(path)
        rest = plain.get(path, headers={"Range": "bytes=5-"})
    assert (whole.status_code, rest.status_code) == (200, 206)
    assert "private" in whole.headers["Cache-Control"]
    assert recorded.count() == before + 1


def test_collections_are_listed(live: Live, client: Any) -> None:
    found = client.collections.retrieve(live.collection.pk).results
    assert (found.id, found.name, found.document_count) == (live.collection.pk, "Buildings", 3)
    assert found.id in [each.id for each in client.collections.list().results]
    assert client.collections.retrieve_by_name("Buildings").results.id == found.id
    assert client.collections.list_documents(found.id).total_entries == 3
    document = live.documents["mill.md"].pk
    assert [each.id for each in client.documents.list_collections(document).results] == [found.id]
    assert refused(client.collections.retrieve, UUID(int=5))[0] == 404


def test_no_collection_is_an_empty_list(live: Live, client: Any) -> None:
    """And of none of them there is nothing to find, or to delete."""
    listed = client.collections.list(ids=[UUID(int=5)])
    assert (listed.results, listed.total_entries) == ([], 0)
    nowhere = {"collection_ids": {"$overlap": []}}
    found = client.retrieval.search("tower", search_settings={"filters": nowhere})
    assert found.results.chunk_search_results == []
    assert client.documents.delete_by_filter(nowhere).results.success
    assert client.documents.list().total_entries == 3


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
