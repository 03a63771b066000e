"""Uploading in the administration, and watching what becomes of it."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from retrieval.ingestion.ledger import Reason, fail
from retrieval.models import Collection, Document, DocumentVersion, ErrorClass, Stage
from tests import conversations
from tests.browser.conftest import NewPage

UPLOAD = "/admin/retrieval/document/upload/"
QUEUE = "/admin/retrieval/document/queue/"
DROP = """([names, target]) => {
  const transfer = new DataTransfer();
  for (const name of names) transfer.items.add(new File([`Text of ${name}`], name));
  const drop = document.querySelector(target);
  const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
  drop.dispatchEvent(new DragEvent("drop", options));
}"""


@pytest.fixture
def page(new_page: NewPage, ada: User) -> Page:
    """Return the upload page, with a collection to upload to; no worker runs."""
    Collection.objects.create(name="Papers")
    page = new_page(ada)
    page.goto(UPLOAD)
    expect(page.locator("form.upload")).to_have_attribute("data-ready", "true")
    return page


def choose(page: Page, folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text(f"Text of {name}.")
    page.locator("#upload-files").set_input_files([folder / name for name in names])


def in_state(page: Page, name: str) -> None:
    expect(page.locator(f"#upload-rows .stage[data-state={name}]").first).to_be_visible()


def test_every_stage_is_shown_as_it_comes(page: Page, tmp_path: Path) -> None:
    """From queued to ready, without a reload; then nothing is asked for any more."""
    choose(page, tmp_path, "a.txt")
    in_state(page, "queued")
    expect(page.locator(".upload-results")).to_contain_text("No worker runs.")
    versions = DocumentVersion.objects.all()
    versions.update(stage=Stage.EMBEDDING, chunk_count=10, embedded_count=4)
    in_state(page, "embedding")
    expect(page.locator("#upload-rows progress")).to_have_attribute("value", "4")
    versions.update(stage=Stage.READY)
    in_state(page, "ready")
    expect(page.locator(".upload-summary")).to_have_text("1 in all: 1 ready.")
    expect(page.locator("#stages-poller")).not_to_have_attribute("data-active", "")
    page.get_by_role("link", name="a.txt").click()
    expect(page.get_by_role("heading", name="Versions")).to_be_visible()


def test_many_are_followed_a_hundred_at_a_time(new_page: NewPage, ada: User) -> None:
    """An address that names them all would be longer than servers take."""
    papers = Collection.objects.create(name="Papers")
    documents = [Document(collection=papers, name=f"{n}", title=f"{n}") for n in range(110)]
    Document.objects.bulk_create(documents)
    versions = [DocumentVersion(document=each, number=1, sha256="", size=1) for each in documents]
    DocumentVersion.objects.bulk_create(versions)
    page = new_page(ada)
    with page.expect_request("**/stages/?**") as asked:
        page.goto(f"{UPLOAD}?" + "&".join(f"version={version.pk}" for version in versions))
    assert asked.value.url.count("version=") == 100


def test_share_that_was_sent_is_shown(page: Page, tmp_path: Path) -> None:
    """In words and as a bar, while a large file is on its way."""
    session = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 400_000}
    session.send("Network.emulateNetworkConditions", slow)
    (tmp_path / "large.txt").write_bytes(b"x" * 1_500_000)
    page.locator("#upload-files").set_input_files(tmp_path / "large.txt")
    pill = page.locator("#upload-rows .stage-pill")
    expect(pill).to_have_text(re.compile(r"Uploading [1-9]\d? %"))
    bar = page.get_by_role("progressbar", name="Uploading large.txt")
    assert 0 < float(bar.evaluate("bar => bar.value")) < 1
    session.send("Network.emulateNetworkConditions", slow | {"uploadThroughput": -1})
    in_state(page, "queued")


def test_each_file_fails_by_itself(page: Page, tmp_path: Path) -> None:
    """One that the reader refuses, one that is no archive, one that is fine."""
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    choose(page, tmp_path, "good.txt", "bad.txt")
    page.locator("#upload-files").set_input_files(tmp_path / "broken.zip")
    in_state(page, "refused")
    expect(page.locator("#upload-rows tr")).to_have_count(3)
    expect(page.locator("#upload-rows .stage[data-state=queued]")).to_have_count(2)
    bad = DocumentVersion.objects.get(document__name="bad.txt")
    fail(bad.pk, Reason("empty", ErrorClass.FILE, "There is nothing in this file."))
    expect(page.get_by_text("There is nothing in this file.")).to_be_visible()
    page.get_by_label("Only problems").check()
    expect(page.get_by_role("link", name="good.txt")).to_be_hidden()
    expect(page.get_by_role("link", name="bad.txt")).to_be_visible()


def test_folder_keeps_its_paths(page: Page, tmp_path: Path) -> None:
    """Hidden files are passed over."""
    inner = tmp_path / "reports" / "2026"
    inner.mkdir(parents=True)
    (inner / "a.txt").write_text("A")
    (tmp_path / "reports" / "b.txt").write_text("B")
    (tmp_path / "reports" / ".hidden").write_text("C")
    page.locator("[name=folder]").set_input_files(tmp_path / "reports")
    expect(page.locator("#upload-rows .stage[data-state=queued]")).to_have_count(2)
    names = {document.name for document in Document.objects.all()}
    assert names == {"reports/2026/a.txt", "reports/b.txt"}


def test_files_are_dropped(page: Page) -> None:
    """On the field; beside it, the page stays where it is."""
    page.evaluate(DROP, [["a.txt", "b.txt"], ".upload-drop"])
    expect(page.locator("#upload-rows .stage[data-state=queued]")).to_have_count(2)
    page.evaluate(DROP, [["c.txt"], "#content"])
    expect(page.locator("#upload-rows tr")).to_have_count(2)


def test_zip_has_a_row_for_each_file(page: Page, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("one.txt", "in/two.txt", "in/three.txt"):
            archive.writestr(name, f"Text of {name}")
    page.locator("#upload-files").set_input_files(tmp_path / "all.zip")
    expect(page.locator("#upload-rows .stage[data-state=queued]")).to_have_count(3)
    expect(page.get_by_role("link", name="all.zip/in/two.txt")).to_be_visible()


def test_addresses_are_queued(page: Page) -> None:
    """Private ones are refused at once."""
    page.get_by_label("From the web").fill("https://example.org/a.pdf\nhttp://127.0.0.1/b.pdf")
    page.get_by_role("button", name="Fetch").click()
    in_state(page, "queued")
    in_state(page, "refused")
    expect(page.locator("#upload-rows tr")).to_have_count(2)


def test_lost_connection_can_be_tried_again(page: Page, tmp_path: Path, errors: list[str]) -> None:
    """By a button in the row; nothing else is sent again."""

    def cut(route: Route) -> None:
        if route.request.method == "POST":
            route.abort()
        else:
            route.continue_()

    page.route(f"**{UPLOAD}", cut)
    choose(page, tmp_path, "a.txt")
    expect(page.get_by_text("The connection was lost.")).to_be_visible()
    page.unroute(f"**{UPLOAD}", cut)
    errors.clear()  # the browser tells of the request that was cut
    page.get_by_role("button", name="Try again to upload a.txt").click()
    in_state(page, "queued")
    assert Document.objects.count() == 1


def test_new_collection_is_named_only_where_one_is_made(page: Page, tmp_path: Path) -> None:
    name = page.get_by_label("Name of the new collection")
    expect(name).to_be_hidden()
    page.get_by_label("Collection:", exact=True).select_option(label="A new collection")
    name.fill("Laws")
    choose(page, tmp_path, "a.txt")
    in_state(page, "queued")
    assert Document.objects.get().collection.name == "Laws"


@pytest.fixture
def version(transactional_db: None) -> DocumentVersion:
    """Return a version that waits, without a job."""
    papers = Collection.objects.create(name="Papers")
    document = Document.objects.create(collection=papers, name="a.txt", title="a")
    return DocumentVersion.objects.create(document=document, number=1, sha256="", size=1)


def test_queue_is_live(new_page: NewPage, ada: User, version: DocumentVersion) -> None:
    """What changes is there without a reload."""
    page = new_page(ada)
    page.goto(QUEUE)
    expect(page.get_by_role("link", name="a.txt")).to_be_visible()
    DocumentVersion.objects.filter(pk=version.pk).update(stage=Stage.READY)
    expect(page.get_by_text("Nothing waits.")).to_be_visible()


def test_whoever_was_signed_out_is_led_to_sign_in(
    new_page: NewPage, ada: User, version: DocumentVersion
) -> None:
    """The page that asks for a password does not take the place of the news."""
    page = new_page(ada)
    page.goto(QUEUE)
    Session.objects.all().delete()
    page.wait_for_url("**/login/**")
    expect(page.get_by_label("Password")).to_be_visible()


def test_one_button_retries_all_that_failed(
    new_page: NewPage, ada: User, version: DocumentVersion
) -> None:
    page = new_page(ada)
    fail(version.pk, Reason("corrupt", ErrorClass.FILE, "It is damaged."))
    page.goto(QUEUE)
    page.get_by_role("button", name="Retry all failed (1)").click()
    expect(page.get_by_text("1 document is queued again.")).to_be_visible()
    version.refresh_from_db()
    assert version.stage == Stage.QUEUED


def test_search_is_tried_on_the_page_of_a_document(
    new_page: NewPage, ada: User, tower: None
) -> None:
    """What is found comes without a reload, with its scores."""
    page = new_page(ada)
    page.goto(f"/admin/retrieval/document/{Document.objects.get().pk}/change/")
    page.get_by_label("Question or words").fill("How high is the tower of Lund?")
    page.get_by_role("button", name="Search").click()
    found = page.locator("#document-found")
    expect(found).to_contain_text("The tower of Lund is 96 metres high.", timeout=30_000)
    expect(found.locator("dt", has_text="fulltext").first).to_be_visible()
    assert "?q=" not in page.url


@pytest.mark.parametrize("width", [320, 1440])
def test_pages_fit_their_screen(new_page: NewPage, ada: User, width: int) -> None:
    """Nothing is cut or scrolls sideways, with long names and errors."""
    version = conversations.document(title="Long" + "title" * 45)
    version.stage, version.error_message = Stage.FAILED, "Because " + "x" * 200
    version.error_code, version.error_class = "corrupt", ErrorClass.FILE
    version.save()
    page = new_page(ada, viewport={"width": width, "height": 800})
    change = f"/admin/retrieval/document/{version.document_id}/change/"
    for address in (f"{UPLOAD}?version={version.pk}", QUEUE, change):
        page.goto(address)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, (address, wide)
