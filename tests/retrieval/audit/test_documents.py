"""What is recorded of documents and their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse

from retrieval.audit.models import AuditEvent
from retrieval.ingestion import retention, retrying
from retrieval.ingestion.fetching import add_url
from retrieval.ingestion.uploads import Upload, add_document
from retrieval.models import Collection, Document, DocumentVersion, Stage
from tests.conversations import person

pytestmark = pytest.mark.django_db
Add = Callable[..., Upload]


@pytest.fixture
def add(settings: Any, tmp_path: Path) -> Add:
    """Return what uploads a file as Ada."""
    settings.MEDIA_ROOT = tmp_path
    collection = Collection.objects.create(name="Test")
    ada = person("ada")

    def upload(name: str = "a.txt", content: bytes = b"0123456789") -> Upload:
        return add_document(collection, name, ContentFile(content, name), ada)

    return upload


def events(action: str) -> list[tuple[str, str, dict[str, Any]]]:
    found = AuditEvent.objects.filter(action=action).order_by("id")
    return [(event.actor_name, event.target_name, event.details) for event in found]


def test_uploads_are_recorded_but_not_what_is_there_already(add: Add) -> None:
    add()
    add()
    add(content=b"new")
    assert events("document.uploaded") == [
        ("ada", "a", {"version": 1}),
        ("ada", "a", {"version": 2}),
    ]


def test_what_is_to_be_fetched_is_recorded(add: Add, settings: Any) -> None:
    settings.FETCH_URLS = True
    add_url(Collection.objects.get(), "https://example.org/b.txt", person("bob"))
    assert [(who, said) for who, _, said in events("document.uploaded")] == [
        ("bob", {"version": 1})
    ]


def test_deleting_and_retrying_are_recorded(add: Add) -> None:
    upload = add()
    DocumentVersion.objects.update(stage=Stage.FAILED)
    retrying.retry(upload.version)
    DocumentVersion.objects.update(stage=Stage.READY)
    retrying.reingest(upload.document)
    retention.delete(Document.objects.all())
    assert events("document.retried") == [("", "a", {"version": 1})]
    assert events("document.reingested") == [("", "a", {"version": 2})]
    assert events("document.deleted") == [("", "a", {})]


def test_a_file_that_is_sent_is_recorded_once_with_its_version(add: Add, client: Client) -> None:
    upload = add()
    DocumentVersion.objects.update(stage=Stage.READY)
    client.force_login(person("bob"))
    url = reverse("documents:file", args=[upload.version.pk])
    etag = client.get(url)["ETag"]
    client.head(url)
    client.get(url, headers={"if-none-match": etag})
    client.get(url, headers={"range": "bytes=5-"})
    client.get(reverse("documents:file", args=[uuid4()]))
    assert events("file.downloaded") == [("bob", "a", {"version": 1})]
    client.get(url, headers={"range": "bytes=0-3"})
    assert len(events("file.downloaded")) == 2


def test_what_is_done_with_several_is_one_event_with_their_keys(
    add: Add, admin_client: Client
) -> None:
    documents = {str(add(name).document.pk) for name in ("a.txt", "b.txt")}
    target = Collection.objects.create(name="Elsewhere")
    for action, also in (("disable", {}), ("move", {"target": str(target.pk)})):
        data = {"action": action, "_selected_action": [*documents], **also}
        admin_client.post("/admin/retrieval/document/", data)
    ((who, _, said),) = events("documents.disabled")
    assert (who, set(said["keys"])) == ("admin", documents)
    ((_, _, said),) = events("documents.moved")
    assert (set(said["keys"]), said["to"]) == (documents, str(target.pk))
