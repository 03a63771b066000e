"""The upload page of the admin."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from retrieval.ingestion.ledger import Reason, fail
from retrieval.ingestion.uploads import Upload
from retrieval.models import Collection, Document, DocumentVersion, ErrorClass
from tests.retrieval.conftest import Staff

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]
UPLOAD = "/admin/retrieval/document/upload/"
STAGES = "/admin/retrieval/document/stages/"


def file(name: str, content: bytes = b"Some text.") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def send(client: Client, collection: Collection | None = None, **data: Any) -> str:
    """Upload as the page's script does, and return the rows."""
    if collection:
        data["collection"] = collection.pk
    response = client.post(UPLOAD, data, headers={"HX-Request": "true"})
    assert response.status_code == 200
    return response.content.decode()


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
    assert f'hx-get="{STAGES}"' in page


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
    assert client.get(STAGES).status_code == 403


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
    url = STAGES
    query = f"?version={going.pk}&version={ended.pk}&version=x"
    page = admin_client.get(url + query).content.decode()
    assert re.findall(r'name="version" value="([\w-]+)"', page) == [str(going.pk)]
    assert f'hx-get="{url}"' in page
    assert page.count('hx-swap-oob="true"') == 2
    assert "This file is damaged." in page
    assert "hx-get" not in admin_client.get(f"{url}?version={ended.pk}").content.decode()


def test_metadata_is_set_at_upload(admin_client: Client, collection: Collection) -> None:
    """Lines of the form are every document's metadata; a bad line is said, and nothing taken."""
    data = {"collection": collection.pk, "metadata": "year=2020\n\nteam=Sales"}
    admin_client.post(UPLOAD, data | {"files": [file("a.txt"), file("b.txt")]})
    said = [document.metadata for document in Document.objects.all()]
    assert said == [{"year": 2020, "team": "Sales"}] * 2
    bad = {"collection": collection.pk, "metadata": "year", "files": [file("c.txt")]}
    assert "is not KEY=VALUE" in admin_client.post(UPLOAD, bad).content.decode()
    assert Document.objects.count() == 2


def test_folders_of_a_path_are_kept(admin_client: Client, collection: Collection) -> None:
    """What stands in a folder that was dropped is named with it."""
    page = send(admin_client, collection, files=[file("a.txt")], path=["2026/reports/a.txt"])
    assert Document.objects.get().name == "2026/reports/a.txt"
    assert "2026/reports/a.txt" in page


def test_zip_becomes_many_documents(admin_client: Client, collection: Collection) -> None:
    """Each file of an archive has a row; one that is refused has its reason, and the rest go on."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("one.txt", "One.")
        archive.writestr("folder/two.txt", "Two.")
    page = send(admin_client, collection, files=[file("both.zip", packed.getvalue())])
    assert {d.name for d in Document.objects.all()} == {"one.txt", "folder/two.txt"}
    assert page.count("data-version=") == 2
    assert "data-problem" in send(admin_client, collection, files=[file("bad.zip", b"PK\x03\x04")])


def test_same_bytes_are_unchanged(
    admin_client: Client, collection: Collection, upload: Callable[[str, bytes], Upload]
) -> None:
    """The row says that nothing is done again."""
    upload("a.txt", b"Some text.")
    assert "Unchanged" in send(admin_client, collection, files=[file("a.txt")])
    assert DocumentVersion.objects.count() == 1


def test_addresses_are_queued_each_with_a_row(admin_client: Client, collection: Collection) -> None:
    """One a line; what cannot be one is refused by its own row."""
    lines = "https://example.org/a.pdf\n\nnonsense"
    page = send(admin_client, collection, urls=lines)
    assert DocumentVersion.objects.get().source_url == "https://example.org/a.pdf"
    assert page.count("data-version=") == 1
    assert page.count("data-problem") == 1


def test_no_addresses_where_fetching_is_off(
    admin_client: Client, collection: Collection, settings: Any
) -> None:
    """Neither the field nor what it would do is there."""
    settings.FETCH_URLS = False
    assert 'name="urls"' not in admin_client.get(UPLOAD).content.decode()
    data = {"collection": collection.pk, "urls": "https://example.org/a.pdf"}
    assert "Choose at least one file" in admin_client.post(UPLOAD, data).content.decode()


def test_too_many_addresses_are_refused(admin_client: Client, collection: Collection) -> None:
    urls = "\n".join(f"https://example.org/{n}" for n in range(101))
    assert "At most 100 addresses" in send(admin_client, collection, urls=urls)
    assert not Document.objects.exists()


def test_request_that_is_too_large_is_told_to_the_script(
    admin_client: Client, collection: Collection, settings: Any
) -> None:
    """The script gets a status it can tell apart, and the reason as text."""
    settings.UPLOAD_MAX_REQUEST_BYTES = 1000
    data = {"collection": collection.pk, "files": [file("a.txt", b"x" * 5000)]}
    response = admin_client.post(UPLOAD, data, headers={"HX-Request": "true"})
    assert response.status_code == 413
    assert "larger than" in response.content.decode()


def test_new_collection_needs_its_permission(staff: Staff, collection: Collection) -> None:
    """Whoever may only add documents adds them to the collections there are."""
    client = staff("add_document")
    assert 'name="new_collection"' not in client.get(UPLOAD).content.decode()
    page = send(client, new_collection="Mine", files=[file("a.txt")])
    assert "Choose a collection" in page
    assert Collection.objects.count() == 1
    assert "data-version=" in send(client, collection, files=[file("a.txt")])


def test_uploader_follows_without_seeing_documents(staff: Staff, collection: Collection) -> None:
    """Whoever may add but not view sees how far the upload is, and no link."""
    client = staff("add_document")
    page = send(client, collection, files=[file("a.txt")])
    assert "/change/" not in page
    key = DocumentVersion.objects.get().pk
    assert f"stage-{key}" in client.get(f"{STAGES}?version={key}").content.decode()


def test_version_that_is_gone_is_no_longer_followed(
    admin_client: Client, collection: Collection
) -> None:
    """An address that gave the same bytes loses its version; its row says so."""
    key = uuid4()
    page = admin_client.get(f"{STAGES}?version={key}").content.decode()
    assert f'id="stage-{key}" data-state="gone"' in page
    assert "hx-get" not in page


def test_missing_worker_is_said(
    admin_client: Client, upload: Callable[[str, bytes], Upload]
) -> None:
    """Whoever waits learns that nothing will happen, and what to do."""
    key = upload("a.txt", b"a").version.pk
    assert "No worker runs." in admin_client.get(f"{STAGES}?version={key}").content.decode()
