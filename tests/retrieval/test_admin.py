"""The list of documents in the admin, and what can be done with those chosen there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from retrieval.ingestion.ledger import Reason, fail
from retrieval.ingestion.uploads import Upload
from retrieval.models import Collection, Document, DocumentVersion, ErrorClass, Stage
from tests.retrieval.conftest import Staff, ready

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]
LIST = "/admin/retrieval/document/"
UploadFile = Callable[[str, bytes], Upload]


def listed(client: Client, **query: str) -> set[str]:
    """Return the names of the documents that the list shows."""
    response = client.get(f"{LIST}?{urlencode(query)}")
    assert response.status_code == 200
    return {document.name for document in response.context["cl"].result_list}


def act(client: Client, action: str, *documents: Document, **data: Any) -> str:
    chosen = {"action": action, "_selected_action": [d.pk for d in documents], "post": "yes"}
    return client.post(LIST, chosen | data, follow=True).content.decode()


def break_(version: DocumentVersion, code: str = "corrupt", kind: str = "file") -> None:
    fail(version.pk, Reason(code, ErrorClass(kind), f"It is {code}."))


def test_list_says_how_far_the_newest_version_is(admin_client: Client, upload: UploadFile) -> None:
    """In words, with the reason where it failed."""
    break_(upload("a.txt", b"a").version, "encrypted")
    page = admin_client.get(LIST).content.decode()
    assert "It is encrypted." in page
    assert "Retry all failed (1)" in page


def test_filters_by_status_and_error(admin_client: Client, upload: UploadFile) -> None:
    """By what the newest version is, not by what older ones were."""
    ready(upload("ready.txt", b"a").document)
    again = upload("again.txt", b"a")
    break_(again.version)
    upload("again.txt", b"b")
    break_(upload("broken.txt", b"a").version)
    break_(upload("busy.txt", b"a").version, "rate_limited", "provider")
    assert listed(admin_client, stage="ready") == {"ready.txt"}
    assert listed(admin_client, stage="under-way") == {"again.txt"}
    assert listed(admin_client, stage="failed") == {"broken.txt", "busy.txt"}
    assert listed(admin_client, error="corrupt") == {"broken.txt"}
    assert listed(admin_client, error_class="provider") == {"busy.txt"}


def test_filters_by_collection_type_language_and_age(
    admin_client: Client, upload: UploadFile, collection: Collection
) -> None:
    """Types and languages that occur are offered by their names."""
    ready(upload("a.pdf", b"a").document, media_type="application/pdf", language="de")
    other = ready(upload("b.txt", b"b").document, media_type="text/plain", language="zh")
    long_ago = timezone.now() - timedelta(days=400)
    Document.objects.filter(pk=other.document_id).update(created_at=long_ago)
    assert listed(admin_client, type="application/pdf") == {"a.pdf"}
    assert listed(admin_client, language="zh") == {"b.txt"}
    assert listed(admin_client, age="hour") == {"a.pdf"}
    assert listed(admin_client, age="older") == {"b.txt"}
    assert listed(admin_client, collection__id__exact=str(collection.pk)) == {"a.pdf", "b.txt"}
    page = admin_client.get(LIST).content.decode()
    assert all(name in page for name in ("PDF", "German", "Chinese"))


def test_searches_titles_and_names(admin_client: Client, upload: UploadFile) -> None:
    upload("pumps.txt", b"a")
    upload("valves.txt", b"b")
    assert listed(admin_client, q="PUMP") == {"pumps.txt"}


def test_list_asks_as_often_for_many_as_for_few(
    admin_client: Client, upload: UploadFile, collection: Collection
) -> None:
    """The number of queries does not grow with the documents, nor with their versions."""

    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert admin_client.get(LIST).status_code == 200
        return len(queries)

    for name in ("a.txt", "b.txt"):
        ready(upload(name, b"a").document)
    count()  # once-only queries, such as the site's and the session's
    few = count()
    for number in range(30):
        ready(upload(f"{number}.txt", b"a").document)
        upload(f"{number}.txt", b"b")
    assert count() == few <= 20


def test_retry_takes_what_failed(admin_client: Client, upload: UploadFile) -> None:
    """Retrying queues what failed, and leaves the rest."""
    failed, queued = upload("a.txt", b"a"), upload("b.txt", b"b")
    break_(failed.version)
    page = act(admin_client, "retry_failed", failed.document, queued.document)
    assert "1 document queued again." in page
    failed.version.refresh_from_db()
    assert (failed.version.stage, failed.version.error_code) == (Stage.QUEUED, "")


def test_reingest_makes_a_new_version(admin_client: Client, upload: UploadFile) -> None:
    """The old one is searched until the new one is ready."""
    document = upload("a.txt", b"a").document
    old = ready(document)
    assert "1 document queued to be read again." in act(admin_client, "reingest", document)
    document.refresh_from_db()
    assert document.current_version == old
    assert document.versions.order_by("-number")[0].stage == Stage.QUEUED


def test_documents_are_disabled_and_enabled(admin_client: Client, upload: UploadFile) -> None:
    """A disabled document is out of search until it is enabled."""
    document = upload("a.txt", b"a").document
    assert "1 document disabled." in act(admin_client, "disable", document)
    document.refresh_from_db()
    assert not document.enabled
    act(admin_client, "enable", document)
    document.refresh_from_db()
    assert document.enabled


def test_move_asks_for_a_collection(admin_client: Client, upload: UploadFile) -> None:
    """The first page asks; the second does it."""
    document = upload("a.txt", b"a").document
    target = Collection.objects.create(name="Elsewhere")
    page = act(admin_client, "move", document)
    assert "Move 1 document to another collection?" in page
    assert "1 document moved to Elsewhere." in act(
        admin_client, "move", document, target=str(target.pk)
    )
    document.refresh_from_db()
    assert document.collection == target


def test_move_leaves_what_would_be_there_twice(admin_client: Client, upload: UploadFile) -> None:
    """A collection has one document of a name: others stay, and are named."""
    target, third = (Collection.objects.create(name=name) for name in ("Target", "Third"))
    taken, free = upload("taken.txt", b"a").document, upload("free.txt", b"b").document
    for collection, name in ((target, "taken.txt"), (third, "free.txt")):
        Document.objects.create(collection=collection, name=name, title=name)
    page = act(admin_client, "move", *Document.objects.all(), target=str(target.pk))
    assert "1 document moved to Target." in page
    assert "two of one name: “taken.txt”" in page
    taken.refresh_from_db()
    free.refresh_from_db()
    assert (taken.collection.name, free.collection.name) == ("Test", "Target")


def test_deleting_takes_out_of_search_and_deletes_the_file(
    admin_client: Client,
    upload: UploadFile,
    media: Any,
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    """A deleted document's stored files go with it, unless they are to be kept for a while."""
    settings.DELETED_DOCUMENTS_DAYS = 0
    document = upload("a.txt", b"a").document
    with django_capture_on_commit_callbacks(execute=True):
        act(admin_client, "delete_selected", document)
    assert not Document.with_deleted.exists()
    assert not [path for path in media.rglob("*") if path.is_file()]


def test_deleting_many_names_some(admin_client: Client, upload: UploadFile) -> None:
    """The page that asks stays short."""
    documents = [upload(f"{n}.txt", b"a").document for n in range(3)]
    more = [
        Document(collection=documents[0].collection, name=f"more {n}", title=f"more {n}")
        for n in range(100)
    ]
    Document.objects.bulk_create(more)
    chosen = {
        "action": "delete_selected",
        "_selected_action": [d.pk for d in Document.objects.all()],
    }
    page = admin_client.post(LIST, chosen).content.decode()
    assert "and 3 more" in page


@pytest.mark.parametrize(
    ("action", "permission"),
    [
        ("retry_failed", "change"), ("reingest", "change"), ("disable", "change"),
        ("enable", "change"), ("move", "change"), ("delete_selected", "delete"),
    ],
)  # fmt: skip
def test_actions_need_their_permission(
    action: str, permission: str, staff: Staff, upload: UploadFile
) -> None:
    """Whoever may only look is offered nothing, and can do nothing."""
    document = upload("a.txt", b"a").document
    client = staff("view_document")
    assert f'value="{action}"' not in client.get(LIST).content.decode()
    act(client, action, document)
    document.refresh_from_db()
    assert document.enabled
    assert document.versions.count() == 1
    allowed = staff("view_document", f"{permission}_document")
    assert f'value="{action}"' in allowed.get(LIST).content.decode()


def test_list_offers_what_is_permitted(staff: Staff, upload: UploadFile) -> None:
    """Uploading and retrying are buttons of those who may."""
    break_(upload("a.txt", b"a").version)
    page = staff("view_document").get(LIST).content.decode()
    assert reverse("admin:retrieval_document_upload") not in page
    assert "Retry all failed" not in page
    assert staff().get(LIST).status_code == 403


def test_other_pages_open(admin_client: Client, collection: Collection) -> None:
    """Collections, chunks and spaces have their lists."""
    for model in ("collection", "chunk", "embeddingspace"):
        assert admin_client.get(f"/admin/retrieval/{model}/").status_code == 200
    page = admin_client.get("/admin/retrieval/collection/").content.decode()
    upload = reverse("admin:retrieval_document_upload")
    assert f"{upload}?collection={collection.pk}" in page


def test_collection_takes_the_right_to_delete_its_documents(
    staff: Staff, collection: Collection, upload: UploadFile
) -> None:
    """Whoever may not delete documents deletes only a collection without any."""
    url = reverse("admin:retrieval_collection_delete", args=[collection.pk])
    document = upload("a.txt", b"a").document
    client = staff("view_collection", "delete_collection")
    assert client.post(url, {"post": "yes"}).status_code == 403
    document.delete()
    assert client.post(url, {"post": "yes"}).status_code == 302
    assert not Collection.objects.exists()


def test_button_of_a_page_without_its_document_leads_to_the_list(
    admin_client: Client, upload: UploadFile
) -> None:
    upload("a.txt", b"a")
    data = {"action": "disable", "from_page": "1", "select_across": "1", "index": "0"}
    response = admin_client.post(LIST, data)
    assert (response.status_code, response["Location"]) == (302, LIST)
