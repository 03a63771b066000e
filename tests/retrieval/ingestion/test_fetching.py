"""From an address to a document: what is queued, and what the worker makes of it."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest
from pytest_django import Settings

from retrieval.ingestion.fetching import add_url, fetching_enabled
from retrieval.ingestion.incoming import UploadError
from retrieval.ingestion.retrying import retry
from retrieval.models import Collection, Document, DocumentVersion, ErrorClass, Outcome, Stage

pytestmark = pytest.mark.django_db(transaction=True)


class Site(BaseHTTPRequestHandler):
    """Pages by their paths: a status, headers and a body each."""

    pages: ClassVar[dict[str, tuple[int, dict[str, str], bytes]]] = {}

    def do_GET(self) -> None:
        status, headers, body = self.pages.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site(settings: Settings) -> Iterator[str]:
    """Return the address of a site that may be fetched from; `Site.pages` are what it has."""
    Site.pages = {"/a.txt": (200, {"Content-Type": "text/plain"}, b"The first text.")}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    settings.FETCH_PRIVATE_HOSTS = ["127.0.0.1"]
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


Run = Callable[[], None]


def stored(settings: Settings) -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_address_is_queued_and_nothing_is_asked_yet(collection: Collection) -> None:
    upload = add_url(collection, "https://example.org/in/a.pdf#page=2", metadata={"year": 2020})
    document = upload.document
    assert document.name == "example.org/in/a.pdf"
    assert document.metadata == {"year": 2020, "source_url": "https://example.org/in/a.pdf"}
    assert (upload.version.stage, upload.version.source_url) == (
        Stage.QUEUED,
        "https://example.org/in/a.pdf",
    )
    assert not upload.version.file


def test_worker_fetches_and_goes_on(
    collection: Collection, site: str, run_worker: Run, settings: Settings
) -> None:
    version = add_url(collection, f"{site}/a.txt").version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.text, version.size) == (Stage.READY, "The first text.", 15)
    stages = list(version.stages.values_list("stage", flat=True))
    assert stages[:2] == [Stage.FETCHING, Stage.EXTRACTING]
    assert version.stages.get(stage=Stage.FETCHING).counts == {"bytes": 15}
    assert len(stored(settings)) == 1


def test_document_is_named_as_its_server_says(
    collection: Collection, site: str, run_worker: Run
) -> None:
    disposition = {"Content-Disposition": 'attachment; filename="../../report.txt"'}
    Site.pages["/get?id=1"] = (200, disposition, b"One.")
    Site.pages["/get?id=2"] = (200, disposition, b"Two.")
    for number in (1, 2):
        add_url(collection, f"{site}/get?id={number}")
    names = set(Document.objects.values_list("name", flat=True))
    assert names == {"127.0.0.1/get", "127.0.0.1/get (2)"}
    run_worker()
    names = set(Document.objects.values_list("name", flat=True))
    assert names == {"127.0.0.1/report.txt", "127.0.0.1/report (2).txt"}
    assert set(DocumentVersion.objects.values_list("text", flat=True)) == {"One.", "Two."}


def test_same_address_again_is_the_next_version(
    collection: Collection, site: str, run_worker: Run
) -> None:
    add_url(collection, f"{site}/a.txt")
    run_worker()
    Site.pages["/a.txt"] = (200, {}, b"The second text.")
    upload = add_url(collection, f"{site}/a.txt")
    assert upload.version.number == 2
    run_worker()
    document = Document.objects.get()
    assert document.current_version is not None
    assert document.current_version.text == "The second text."


def test_same_bytes_are_unchanged(
    collection: Collection, site: str, run_worker: Run, settings: Settings
) -> None:
    first = add_url(collection, f"{site}/a.txt").version
    run_worker()
    add_url(collection, f"{site}/a.txt")
    run_worker()
    assert list(DocumentVersion.objects.values_list("pk", flat=True)) == [first.pk]
    assert len(stored(settings)) == 1


def test_same_address_twice_in_the_queue_is_fetched_once(collection: Collection) -> None:
    first, second = (add_url(collection, "https://example.org/a.pdf") for _ in range(2))
    assert first.version == second.version


def test_failed_fetch_is_seen_and_can_be_retried(
    collection: Collection, site: str, run_worker: Run
) -> None:
    version = add_url(collection, f"{site}/later.txt").version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_class, version.error_code) == (
        Stage.FAILED,
        ErrorClass.ADDRESS,
        "not-found",
    )
    assert version.error_message == "There is no such page on 127.0.0.1."
    Site.pages["/later.txt"] = (200, {}, b"Now it is there.")
    retry(version)
    run_worker()
    version.refresh_from_db()
    assert version.stage == Stage.READY


@pytest.mark.parametrize(
    ("most", "stage", "outcome"),
    [(2, Stage.FETCHING, Outcome.RETRIED), (1, Stage.FAILED, Outcome.FAILED)],
)
def test_server_that_is_away_is_tried_again_but_not_for_ever(  # noqa: PLR0917
    collection: Collection,
    site: str,
    run_worker: Run,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    stage: Stage,
    outcome: Outcome,
) -> None:
    monkeypatch.setattr("retrieval.ingestion.fetched.MAX_FETCHES", most)
    Site.pages["/busy.txt"] = (503, {}, b"")
    version = add_url(collection, f"{site}/busy.txt").version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_code) == (stage, "http-error")
    assert version.stages.get(stage=Stage.FETCHING).outcome == outcome


def test_fetched_file_is_limited_as_any_other(
    collection: Collection, site: str, run_worker: Run, settings: Settings
) -> None:
    settings.UPLOAD_TYPES = ["pdf"]
    version = add_url(collection, f"{site}/a.txt").version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_code) == (Stage.FAILED, "type-not-allowed")
    assert not stored(settings)


def test_private_address_is_refused_by_the_worker(
    collection: Collection, run_worker: Run, settings: Settings
) -> None:
    version = add_url(collection, "http://localhost:1/a.txt").version
    run_worker()
    version.refresh_from_db()
    assert (version.stage, version.error_code) == (Stage.FAILED, "refused-address")


def test_deleted_meanwhile_leaves_nothing(
    collection: Collection, site: str, run_worker: Run, settings: Settings
) -> None:
    add_url(collection, f"{site}/a.txt")
    Document.objects.all().delete()
    run_worker()
    assert not stored(settings)


def test_fetching_can_be_turned_off(collection: Collection, settings: Settings) -> None:
    settings.FETCH_URLS = False
    assert not fetching_enabled()
    with pytest.raises(UploadError, match="not fetched"):
        add_url(collection, "https://example.org/a.pdf")
    assert not Document.objects.exists()


def test_bad_address_makes_no_document(collection: Collection) -> None:
    with pytest.raises(UploadError):
        add_url(collection, "http://10.0.0.1/a.pdf")
    assert not Document.objects.exists()
