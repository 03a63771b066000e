"""Documents, search and conversations over HTTP."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4
from zipfile import ZipFile

import pytest
from django.test.utils import override_settings

from chat import pace
from chat.client import (
    BadRequestError,
    DocumentFailedError,
    NotAllowedError,
    NotFoundError,
    RagClient,
    RateLimitedError,
    UnavailableError,
)
from tests.chat.api.conftest import Live


def test_a_search_gives_passages_best_first(client: RagClient, live: Live) -> None:
    found = client.search("tower of Lund", settings={"limit": 2, "include_metadatas": True})
    assert len(found) == 2
    best = found[0]
    assert (best.document, best.title) == (live.documents["tower.md"].pk, "The tower of Lund")
    assert "96 metres" in best.text
    assert best.scores
    assert (best.metadata or {})["language"] == "en"
    assert client.search("tower", collections=[str(live.collection.pk)])


def test_what_is_searched_for_too_often_says_when_to_come_back(
    client: RagClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "may_look", lambda *_: False)
    with pytest.raises(RateLimitedError) as caught:
        client.search("tower")
    assert (caught.value.status, caught.value.retry_after) == (429, 5.0)


def test_a_file_is_found_when_its_upload_returns(
    client: RagClient, live: Live, tmp_path: Path
) -> None:
    path = tmp_path / "crane.md"
    path.write_text("# The crane\n\nThe crane of Ystad lifts nine tonnes.\n")
    with live.worker():
        document = client.upload(path, metadata={"year": 1931})
    assert (document.state, document.metadata) == ("ready", {"year": 1931})
    assert document.collection == live.collection.pk
    assert "nine tonnes" in client.search("The crane lifts nine tonnes")[0].text
    found = client.document(document.id)
    assert (found.id, found.state, found.name) == (document.id, "ready", "crane.md")


def test_a_file_that_cannot_be_read_says_why(client: RagClient, live: Live, tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\nthis is none")
    with live.worker(), pytest.raises(DocumentFailedError, match=r"broken\.pdf: ") as caught:
        client.upload(path, collection=live.collection.name)
    assert client.document(caught.value.document_id).state == "failed"


def test_an_upload_need_not_be_waited_for(client: RagClient, tmp_path: Path) -> None:
    path = tmp_path / "later.md"
    path.write_text("# Later\n\nThis is read later.\n")
    document = client.upload(path, wait=False)
    assert (document.state, document.has_ended) == ("pending", False)
    with pytest.raises(UnavailableError) as caught:
        client.upload(path, wait=0.05)
    assert caught.value.code == "not_ready"


def test_an_archive_is_several_documents(client: RagClient, tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    with ZipFile(path, "w") as archive:
        for name in ("one.md", "two.md"):
            archive.writestr(name, f"# {name}\n\nText.\n")
    with pytest.raises(BadRequestError, match="upload_all"):
        client.upload(path)
    documents = client.upload_all(path, wait=False)
    assert [document.name for document in documents] == ["one.md", "two.md"]


def test_what_may_not_be_added_is_refused(client: RagClient, live: Live, tmp_path: Path) -> None:
    path = tmp_path / "program.exe"
    path.write_bytes(b"MZ")
    with override_settings(UPLOAD_TYPES=["md"]), pytest.raises(BadRequestError) as caught:
        client.upload(path, wait=False)
    assert caught.value.status == 415
    with RagClient(live.base_url, live.other_token) as reader:
        with pytest.raises(NotAllowedError):
            reader.upload(path, wait=False)
        with pytest.raises(NotAllowedError):
            reader.upload(path, collection=live.collection.name, wait=False)


def test_conversations_are_listed_read_and_deleted(client: RagClient) -> None:
    threads = [client.ask(f"How high is tower {number}?").thread_id for number in range(3)]
    listed = client.conversations(limit=2)
    assert [str(each.id) for each in listed] == threads[:0:-1]
    assert len(client.conversations()) >= 3
    read = client.conversation(threads[0])
    assert [message.role for message in read.messages] == ["user", "assistant"]
    assert read.messages[1].citations[0].index == 1
    client.delete_conversation(threads[0])
    with pytest.raises(NotFoundError):
        client.conversation(threads[0])
    with pytest.raises(NotFoundError):
        client.conversation(uuid4())
