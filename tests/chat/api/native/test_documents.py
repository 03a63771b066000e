"""Documents: taken in, listed, followed, read, changed, deleted."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any
from uuid import uuid4

import httpx
import pytest

from retrieval.audit.models import AuditEvent
from retrieval.models import Document, DocumentVersion, Stage
from tests.chat.api.conftest import TEXTS, Live
from tests.chat.api.native.events import read
from tests.documents import zipped

Json = dict[str, Any]


def uploaded(client: httpx.Client, *files: tuple[str, bytes], **fields: Any) -> httpx.Response:
    parts = [("files", (name, BytesIO(content))) for name, content in files]
    return client.post("documents", files=parts, data={"collection": "Buildings", **fields})


def added(client: httpx.Client, **fields: Any) -> Json:
    body = {"collection": "Buildings", "name": f"{uuid4()}.txt", "text": "Some text.", **fields}
    answer = client.post("documents/text", json=body)
    assert answer.status_code == 202, answer.text
    document: Json = answer.json()["items"][0]["document"]
    return document


def test_files_are_taken_in_one_by_one(ada: httpx.Client, live: Live) -> None:
    answer = uploaded(
        ada,
        ("one.txt", b"The first file."),
        ("nothing.txt", b""),
        metadata='{"year": 2026}',
    )
    assert answer.status_code == 202
    first, second = answer.json()["items"]
    assert (first["document"]["name"], first["document"]["metadata"]) == ("one.txt", {"year": 2026})
    assert first["document"]["state"] == "pending"
    assert second["document"] or second["error"]["code"]


def test_the_files_of_a_zip_are_documents_of_their_own(ada: httpx.Client) -> None:
    content = zipped({"a/x.txt": "The text of x.", "y.txt": "The text of y."})
    items = uploaded(ada, ("both.zip", content)).json()["items"]
    assert sorted(each["document"]["name"] for each in items) == ["a/x.txt", "y.txt"]


def test_a_file_above_the_limit_is_refused_as_too_large(ada: httpx.Client, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    answer = uploaded(ada, ("big.txt", b"x" * 2000))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_text_may_be_larger_than_forms_are(ada: httpx.Client) -> None:
    """Django takes 2.5 MB of a form."""
    document = added(ada, text="A sentence of some words. " * 150_000)
    assert document["newest"]["size"] > 3_000_000
    ada.delete(f"documents/{document['id']}")  # nobody needs to wait for it


def test_chunks_stay_as_they_are_given(ada: httpx.Client, live: Live) -> None:
    chunks = ["No dogs.", "# No bicycles\n\nat any time."]
    document = added(ada, text=None, chunks=chunks, metadata={"year": 2026})
    live.ingest()
    listed = ada.get(f"documents/{document['id']}/chunks").json()
    assert [each["text"] for each in listed["items"]] == chunks
    assert document["metadata"] == {"year": 2026}


@pytest.mark.parametrize("fields", [{}, {"text": "One.", "chunks": ["Two."]}])
def test_a_document_is_a_text_or_chunks(ada: httpx.Client, fields: dict[str, object]) -> None:
    answer = ada.post("documents/text", json={"collection": "Buildings", "name": "x", **fields})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/text")


def test_a_text_above_the_limit_is_refused(ada: httpx.Client, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    body = {"collection": "Buildings", "name": "big.txt", "text": "x" * 2000}
    answer = ada.post("documents/text", json=body)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_document_is_waited_for_until_it_is_ready(ada: httpx.Client, live: Live) -> None:
    document = added(ada, text="The lighthouse of Kiel is white.")
    assert (
        ada.get(f"documents/{document['id']}", params={"wait": 0.01}).json()["state"] == "pending"
    )
    live.ingest()
    ready = ada.get(f"documents/{document['id']}", params={"wait": 20}).json()
    assert (ready["state"], ready["searched"], ready["newest"]["stage"]) == ("ready", 1, "ready")
    assert [each["stage"] for each in ready["stages"]] == [
        "extracting", "chunking", "embedding", "finishing",
    ]  # fmt: skip


def test_the_progress_of_a_document_is_told_up_to_its_end(ada: httpx.Client, live: Live) -> None:
    document = added(ada, text="The lighthouse of Rostock is green.")
    with ada.stream("GET", f"documents/{document['id']}/events") as answer:
        events = read(answer.iter_lines())
        assert next(events).data["newest"]["stage"] == "queued"
        live.ingest()
        *_, last = events
    assert (last.name, last.data["state"]) == ("end", "ready")


def test_what_cannot_be_read_says_why_and_is_tried_again(ada: httpx.Client, live: Live) -> None:
    document = uploaded(ada, ("broken.pdf", b"%PDF-1.4 nothing")).json()["items"][0]["document"]
    live.ingest()
    failed = ada.get(f"documents/{document['id']}").json()
    assert (failed["state"], failed["newest"]["error"]["code"]) == ("failed", "corrupt")
    listed = ada.get("documents", params={"state": "failed"}).json()["items"]
    assert document["id"] in [each["id"] for each in listed]
    again = ada.post(f"documents/{document['id']}/retry")
    assert (again.status_code, again.json()["newest"]["stage"]) == (202, "queued")
    assert ada.post(f"documents/{document['id']}/retry").status_code == 409


def test_a_new_file_of_the_same_name_is_a_new_version(ada: httpx.Client, live: Live) -> None:
    document = added(ada, name="versions.txt", text="The first edition.")
    live.ingest()
    assert added(ada, name="versions.txt", text="The second edition.")["id"] == document["id"]
    found = ada.get(f"documents/{document['id']}/versions").json()
    assert [each["number"] for each in found["items"]] == [2, 1]
    assert ada.get(f"documents/{document['id']}/text").json()["text"] == "The first edition."
    live.ingest()
    text = ada.get(f"documents/{document['id']}/text", params={"offset": 4, "limit": 6})
    assert text.json() == {"version": 2, "text": "second", "offset": 4, "total": 19}


def test_given_chunks_stay_as_they_are(ada: httpx.Client, live: Live) -> None:
    document = added(ada, text=None, chunks=["One chunk.", "Another chunk."], id=str(uuid4()))
    live.ingest()
    chunks = ada.get(f"documents/{document['id']}/chunks").json()
    assert [each["text"] for each in chunks["items"]] == ["One chunk.", "Another chunk."]
    assert chunks["total"] == 2


def test_a_reader_finds_what_is_ready_and_its_file(bob: httpx.Client, live: Live) -> None:
    tower = live.documents["tower.md"]
    found = bob.get("documents", params={"name": "tower.md"}).json()
    assert [each["id"] for each in found["items"]] == [str(tower.pk)]
    file = bob.get(f"documents/{tower.pk}/download")
    assert file.text == TEXTS["tower.md"]
    assert "tower.md" in file.headers["Content-Disposition"]
    part = bob.get(f"documents/{tower.pk}/download", headers={"Range": "bytes=2-10"})
    assert (part.status_code, part.text) == (206, TEXTS["tower.md"][2:11])
    assert AuditEvent.objects.filter(action="file.downloaded", actor_name="bob").exists()


def test_a_reader_finds_nothing_of_what_is_not_ready(ada: httpx.Client, bob: httpx.Client) -> None:
    document = added(ada)
    assert bob.get(f"documents/{document['id']}").status_code == 404
    assert bob.get(f"documents/{document['id']}/events").status_code == 404
    ready = bob.get("documents", params={"limit": 200}).json()
    assert document["id"] not in [each["id"] for each in ready["items"]]


def test_who_does_not_manage_a_collection_changes_nothing_in_it(
    bob: httpx.Client, live: Live
) -> None:
    tower = live.documents["tower.md"].pk
    text = {"collection": str(live.collection.pk), "name": "x.txt", "text": "x"}
    refused = [
        uploaded(bob, ("x.txt", b"x")),
        bob.post("documents/text", json=text),
        bob.post("documents/url", json={"collection": "Buildings", "url": "https://a.example/"}),
        bob.patch(f"documents/{tower}", json={"title": "Mine"}),
        bob.post(f"documents/{tower}/retry"),
        bob.delete(f"documents/{tower}"),
    ]
    assert [(each.status_code, each.json()["code"]) for each in refused] == [
        (403, "not_allowed")
    ] * 6


def test_a_document_is_changed_and_that_is_recorded(ada: httpx.Client) -> None:
    document = added(ada)
    change = {"title": "A title", "metadata": {"a": [1]}, "enabled": False}
    changed = ada.patch(f"documents/{document['id']}", json=change).json()
    assert {name: changed[name] for name in change} == change
    event = AuditEvent.objects.get(action="document.changed", target_id=document["id"])
    assert event.details == {"fields": ["enabled", "metadata", "title"]}
    assert event.via == "token"


def test_a_deleted_document_is_not_there_any_more(ada: httpx.Client) -> None:
    document = added(ada)
    assert ada.delete(f"documents/{document['id']}").status_code == 204
    assert ada.get(f"documents/{document['id']}").status_code == 404
    assert ada.delete(f"documents/{document['id']}").status_code == 404
    assert not Document.objects.filter(pk=document["id"]).exists()


def test_an_address_is_queued_and_one_within_is_refused(ada: httpx.Client) -> None:
    url = {"collection": "Buildings", "url": "https://example.org/handbook.pdf"}
    taken = ada.post("documents/url", json=url).json()["items"][0]["document"]
    assert taken["newest"]["source_url"] == url["url"]
    DocumentVersion.objects.filter(document=taken["id"]).update(stage=Stage.FAILED)
    refused = ada.post("documents/url", json={**url, "url": "http://127.0.0.1/"})
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_address")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"collection": ""}, "#/collection"),
        ({"metadata": "{"}, "#/metadata"),
        ({"metadata": json.dumps({"": 1})}, "#/metadata"),
    ],
)
def test_a_wrong_field_of_a_form_is_named(ada: httpx.Client, fields: Json, pointer: str) -> None:
    answer = uploaded(ada, ("x.txt", b"x"), **fields)
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


def test_a_form_without_a_file_or_no_form_is_refused(ada: httpx.Client) -> None:
    none = ada.post("documents", files={"other": (None, "x")}, data={"collection": "Buildings"})
    assert none.json()["errors"][0]["pointer"] == "#/files"
    assert ada.post("documents", json={}).status_code == 415
    garbled = ada.post(
        "documents", content=b"x", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert garbled.status_code in (400, 422)


def test_documents_are_listed_by_the_name_of_their_collection(
    ada: httpx.Client, live: Live
) -> None:
    by_id, by_name, none = (
        ada.get("documents", params={"collection": each}).json()["items"]
        for each in (str(live.collection.pk), live.collection.name, "Ships")
    )
    assert by_name == by_id != none == []
