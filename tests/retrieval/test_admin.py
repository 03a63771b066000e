"""Documents in the admin: the upload page, the list, the actions."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from retrieval.ingestion.ledger import Reason, fail
from retrieval.ingestion.uploads import Upload, add_document
from retrieval.models import Chunk, Collection, Document, DocumentVersion, ErrorClass, Stage

pytestmark = pytest.mark.django_db
UPLOAD = "/admin/retrieval/document/upload/"


@pytest.fixture(autouse=True)
def _media(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def collection() -> Collection:
    return Collection.objects.create(name="Test")


@pytest.fixture
def upload(collection: Collection) -> Callable[[str, bytes], Upload]:
    return lambda name, content: add_document(collection, name, ContentFile(content, name))


def file(name: str, content: bytes = b"Some text.") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_several_files_become_queued_documents(
    admin_client: Client, admin_user: User, collection: Collection
) -> None:
    """Without JavaScript, one form takes several files and shows each one's state."""
    data = {"collection": collection.pk, "files": [file("a.txt"), file("b.txt")]}
    response = admin_client.post(UPLOAD, data, follow=True)
    assert {d.name for d in Document.objects.filter(collection=collection)} == {"a.txt", "b.txt"}
    assert all(d.uploaded_by == admin_user for d in Document.objects.all())
    page = response.content.decode()
    assert page.count('data-state="queued"') == 2
    assert 'hx-get="/admin/retrieval/document/stages/"' in page


def test_a_new_collection_is_made(admin_client: Client) -> None:
    """Files can go into a collection that is named on the spot."""
    admin_client.post(UPLOAD, {"new_collection": "Laws", "files": [file("a.txt")]})
    assert Document.objects.get().collection.name == "Laws"


def test_too_large_file_is_named_and_others_go_on(
    admin_client: Client, collection: Collection, settings
) -> None:
    """A file above the limit is dropped while it streams in; the next one is taken."""
    settings.UPLOAD_MAX_BYTES = 100_000
    files = [file("big.txt", b"x" * 200_000), file("small.txt")]
    data = {"collection": collection.pk, "files": files}
    response = admin_client.post(UPLOAD, data, follow=True)
    assert [d.name for d in Document.objects.all()] == ["small.txt"]
    assert "“big.txt”: This file is larger than 97.7 KB" in response.content.decode()
    assert len([path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]) == 1


def test_too_many_files_are_refused(admin_client: Client, collection: Collection, settings) -> None:
    """The number of files in one request is limited, with a message that says so."""
    settings.UPLOAD_MAX_FILES = settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    data = {"collection": collection.pk, "files": [file(f"{n}.txt") for n in range(3)]}
    response = admin_client.post(UPLOAD, data, follow=True)
    assert "At most 2 files" in response.content.decode()
    assert not Document.objects.exists()


def test_script_gets_a_row(admin_client: Client, collection: Collection) -> None:
    """A file sent by the page's script is answered with its row, its name escaped."""
    response = admin_client.post(
        UPLOAD,
        {"collection": collection.pk, "files": [file("<b>.txt")]},
        headers={"HX-Request": "true"},
    )
    page = response.content.decode()
    assert response.status_code == 200
    assert "&lt;b&gt;.txt" in page
    assert str(DocumentVersion.objects.get().pk) in page


def test_nothing_chosen_is_said(admin_client: Client, collection: Collection) -> None:
    """A form without a collection or without files comes back with the reason."""
    response = admin_client.post(UPLOAD, {"collection": collection.pk})
    assert "Choose at least one file." in response.content.decode()
    response = admin_client.post(UPLOAD, {"files": [file("a.txt")]})
    assert "Choose a collection" in response.content.decode()


def test_upload_needs_a_token(admin_user: User, collection: Collection) -> None:
    """Another site's form is refused."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin_user)
    data = {"collection": collection.pk, "files": [file("a.txt")]}
    assert client.post(UPLOAD, data).status_code == 403
    assert not Document.objects.exists()


def test_upload_needs_the_permission(client: Client, collection: Collection) -> None:
    """Staff who may not add documents cannot upload."""
    client.force_login(User.objects.create_user("reader", is_staff=True))
    data = {"collection": collection.pk, "files": [file("a.txt")]}
    assert client.get(UPLOAD).status_code == 403
    assert client.post(UPLOAD, data).status_code == 403
    assert client.get("/admin/retrieval/document/stages/").status_code == 403


def test_add_leads_to_the_upload_page(admin_client: Client) -> None:
    """There is one way to add a document."""
    response = admin_client.get("/admin/retrieval/document/add/")
    assert response["Location"] == UPLOAD


def test_polling_stops_when_all_have_ended(
    admin_client: Client, upload: Callable[[str, bytes], Upload]
) -> None:
    """What goes on is asked for again, what has ended is not; bad ids are passed over."""
    going, ended = upload("a.txt", b"a").version, upload("b.txt", b"b").version
    fail(ended.pk, Reason("corrupt", ErrorClass.FILE, "This file is damaged."))
    url = "/admin/retrieval/document/stages/"
    query = f"?version={going.pk}&version={ended.pk}&version=x"
    page = admin_client.get(url + query).content.decode()
    assert re.findall(r'name="version" value="([\w-]+)"', page) == [str(going.pk)]
    assert f'hx-get="{url}"' in page
    assert page.count('hx-swap-oob="true"') == 2
    assert "This file is damaged." in page
    assert "hx-get" not in admin_client.get(f"{url}?version={ended.pk}").content.decode()


def test_list_shows_the_newest_version(
    admin_client: Client, upload: Callable[[str, bytes], Upload]
) -> None:
    """The list says in words how far a document is, and why it failed; it can be filtered."""
    version = upload("a.txt", b"a").version
    fail(version.pk, Reason("encrypted", ErrorClass.FILE, "This file is protected."))
    url = "/admin/retrieval/document/"
    assert "This file is protected." in admin_client.get(url).content.decode()
    assert "a.txt" not in admin_client.get(f"{url}?stage=ready").content.decode()
    page = admin_client.get(f"{url}?stage=failed&error=encrypted").content.decode()
    assert "This file is protected." in page


def test_document_page_shows_versions_text_and_chunks(
    admin_client: Client, upload: Callable[[str, bytes], Upload]
) -> None:
    """The document's page has its versions, its text and its chunks, all escaped."""
    version = upload("a.txt", b"a").version
    version.text = "<script>alert(1)</script> and more"
    version.stage = Stage.READY
    version.save()
    Document.objects.update(current_version=version)
    chunk = Chunk.objects.create(
        version=version, ordinal=0, text=version.text, char_start=0, char_end=9,
        heading_path=["Part", "Sub"], page_start=3, page_end=4,
    )  # fmt: skip
    url = reverse("admin:retrieval_document_change", args=[version.document_id])
    page = admin_client.get(url).content.decode()
    assert "page 3–4, Part › Sub" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    chunk_page = admin_client.get(reverse("admin:retrieval_chunk_change", args=[chunk.pk]))
    assert "Part › Sub" in chunk_page.content.decode()


def act(client: Client, action: str, *documents: Document) -> str:
    data = {"action": action, "_selected_action": [d.pk for d in documents], "post": "yes"}
    response = client.post("/admin/retrieval/document/", data, follow=True)
    return response.content.decode()


def test_failed_documents_are_retried(
    admin_client: Client, upload: Callable[[str, bytes], Upload]
) -> None:
    """Retrying queues what failed, and leaves the rest."""
    failed, queued = upload("a.txt", b"a"), upload("b.txt", b"b")
    fail(failed.version.pk, Reason("timeout", ErrorClass.FILE, "Took too long."))
    page = act(admin_client, "retry_failed", failed.document, queued.document)
    assert "1 queued again." in page
    failed.version.refresh_from_db()
    assert (failed.version.stage, failed.version.error_code) == (Stage.QUEUED, "")


def test_documents_are_disabled_and_enabled(
    admin_client: Client, upload: Callable[[str, bytes], Upload]
) -> None:
    """A disabled document is out of search until it is enabled."""
    document = upload("a.txt", b"a").document
    act(admin_client, "disable", document)
    document.refresh_from_db()
    assert not document.enabled
    act(admin_client, "enable", document)
    document.refresh_from_db()
    assert document.enabled


def test_deleting_deletes_the_file(
    admin_client: Client,
    upload: Callable[[str, bytes], Upload],
    settings,
    django_capture_on_commit_callbacks,
) -> None:
    """A deleted document's stored files go with it."""
    document = upload("a.txt", b"a").document
    with django_capture_on_commit_callbacks(execute=True):
        act(admin_client, "delete_selected", document)
    assert not Document.objects.exists()
    assert not [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_other_pages_open(admin_client: Client, collection: Collection) -> None:
    """Collections, chunks and spaces have their lists."""
    for model in ("collection", "chunk", "embeddingspace"):
        assert admin_client.get(f"/admin/retrieval/{model}/").status_code == 200
    page = admin_client.get("/admin/retrieval/collection/").content.decode()
    assert f"{UPLOAD}?collection={collection.pk}" in page


def test_metadata_is_set_at_upload(admin_client: Client, collection: Collection) -> None:
    """Lines of the form are every document's metadata; a bad line is said, and nothing taken."""
    data = {"collection": collection.pk, "metadata": "year=2020\n\nteam=Sales"}
    admin_client.post(UPLOAD, data | {"files": [file("a.txt"), file("b.txt")]})
    said = [document.metadata for document in Document.objects.all()]
    assert said == [{"year": 2020, "team": "Sales"}] * 2
    bad = {"collection": collection.pk, "metadata": "year", "files": [file("c.txt")]}
    assert "is not KEY=VALUE" in admin_client.post(UPLOAD, bad).content.decode()
    assert Document.objects.count() == 2


def test_metadata_is_edited(
    admin_client: Client, upload: Callable[[str, bytes], Upload], collection: Collection
) -> None:
    """Staff see what the file says, and say otherwise; what cannot be stored is refused."""
    version = upload("a.txt", b"a").version
    version.metadata = {"author": ["<b>Ann</b>", "Bob"]}
    version.save()
    Document.objects.update(current_version=version)
    url = reverse("admin:retrieval_document_change", args=[version.document_id])
    assert "<dd>&lt;b&gt;Ann&lt;/b&gt;, Bob</dd>" in admin_client.get(url).content.decode()
    form = {
        "title": "A", "collection": collection.pk, "enabled": "on",
        "versions-TOTAL_FORMS": 0, "versions-INITIAL_FORMS": 0,
    }  # fmt: skip
    assert admin_client.post(url, form | {"metadata": '{"author": "Cy"}'}).status_code == 302
    assert Document.objects.get().metadata == {"author": "Cy"}
    refused = admin_client.post(url, form | {"metadata": '{"a.b": 1}'})
    assert "cannot be a key" in refused.content.decode()
    assert admin_client.post(url, form | {"metadata": ""}).status_code == 302
    assert Document.objects.get().metadata == {}
