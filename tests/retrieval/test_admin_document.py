"""The page of a document in the admin."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from retrieval.ingestion.ledger import Reason, fail
from retrieval.ingestion.uploads import Upload
from retrieval.models import (
    Chunk,
    Collection,
    Document,
    DocumentVersion,
    ErrorClass,
    IngestStage,
    Outcome,
    Stage,
)
from tests.fakes import HashEmbedder
from tests.retrieval.conftest import Staff, ready
from tests.retrieval.search.conftest import add_version

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]
UploadFile = Callable[[str, bytes], Upload]


def url_of(document: Document) -> str:
    return reverse("admin:retrieval_document_change", args=[document.pk])


def page_of(client: Client, document: Document, **query: str) -> str:
    response = client.get(url_of(document), query)
    assert response.status_code == 200
    return response.content.decode()


def add_chunks(version: DocumentVersion, count: int, **fields: Any) -> None:
    Chunk.objects.bulk_create(
        Chunk(version=version, ordinal=n, text=f"Text {n}.", char_start=0, char_end=7, **fields)
        for n in range(count)
    )


@pytest.fixture
def document(upload: UploadFile) -> Document:
    """A document of three pages that is ready."""
    document = upload("a.txt", b"a").document
    ready(document, text="First.\nSecond.\nThird.", page_starts=[0, 7, 15], language="de")
    return document


def test_text_and_chunks_are_shown_escaped(admin_client: Client, document: Document) -> None:
    """With pages and headings."""
    version = ready(document, text="<script>alert(1)</script> and more", page_starts=[])
    chunk = {"heading_path": ["Part", "Sub"], "page_start": 3, "page_end": 4}
    add_chunks(version, 1, **chunk)
    page = page_of(admin_client, document)
    assert "page 3–4, Part › Sub" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    (made,) = version.chunks.all()
    chunk_page = admin_client.get(reverse("admin:retrieval_chunk_change", args=[made.pk]))
    assert "Part › Sub" in chunk_page.content.decode()


def test_long_text_is_shown_in_parts(admin_client: Client, document: Document) -> None:
    """Only a part of it is read and sent; a page is found by its number."""
    starts = [n * 1000 for n in range(100)]
    text = "".join(f"[{n}]".ljust(1000, "x") for n in range(1, 101))
    ready(document, text=text, page_starts=starts)
    first = admin_client.get(url_of(document)).context["text"]
    assert (first.number, first.count) == (1, 5)
    assert [segment.page for segment in first.segments] == list(range(1, 21))
    found = admin_client.get(url_of(document), {"page": "57"}).context["text"]
    assert found.number == 3
    assert "[57]" in [segment.text[:4] for segment in found.segments]
    for wrong in ("0", "999", "x", "-1"):
        assert admin_client.get(url_of(document), {"part": wrong}).status_code == 200


def test_page_that_goes_on_in_the_next_part_says_so(
    admin_client: Client, document: Document
) -> None:
    ready(document, text="a" * 30_000, page_starts=[0, 19_000])
    assert "Page 2, continued" in page_of(admin_client, document, part="2")


def test_chunks_are_shown_page_by_page(admin_client: Client, document: Document) -> None:
    add_chunks(document.versions.get(), 25)
    page = page_of(admin_client, document)
    assert "1–10 of 25" in page
    assert "Text 9." in page
    assert "Text 10." not in page
    assert "Text 24." in page_of(admin_client, document, chunks="3")


def test_versions_say_which_one_is_searched(
    admin_client: Client, document: Document, upload: UploadFile
) -> None:
    """And what became of the others; each can be shown."""
    newer = upload("a.txt", b"newer").version
    DocumentVersion.objects.filter(pk=newer.pk).update(text="Newer text.")
    fail(newer.pk, Reason("corrupt", ErrorClass.FILE, "It is damaged."))
    page = page_of(admin_client, document)
    assert "Version 1 is searched meanwhile." in page
    assert "It is damaged." in page
    assert "Newer text." not in page
    assert "Newer text." in page_of(admin_client, document, version=str(newer.pk))


def test_ledger_tells_every_try(admin_client: Client, document: Document) -> None:
    """Stage, outcome, how long it took, counts and error."""
    began = timezone.now() - timedelta(hours=1)
    IngestStage.objects.create(
        version=document.versions.get(), stage=Stage.EXTRACTING, attempt=2,
        outcome=Outcome.FAILED, started_at=began, ended_at=began + timedelta(seconds=125),
        counts={"pages": 1234}, error_code="timeout", error_class=ErrorClass.FILE,
        message="Reading took too long.", worker="host:42",
    )  # fmt: skip
    page = page_of(admin_client, document)
    for said in ("2 min 5 s", "1,234 pages", "Reading took too long.", "The file: timeout"):
        assert said in page


def test_unfinished_document_is_followed(admin_client: Client, upload: UploadFile) -> None:
    """Until it has ended; a search that was tried is not repeated meanwhile."""
    document = upload("a.txt", b"a").document
    page = page_of(admin_client, document, chunks="1")
    assert f'hx-get="{url_of(document)}?chunks=1"' in page
    ready(document)
    assert 'hx-trigger="every' not in page_of(admin_client, document)


@pytest.mark.django_db(transaction=True)
def test_search_is_tried_in_this_document(
    admin_client: Client, collection: Collection, settings: Any
) -> None:
    """The search of answers, with its scores; what other documents say is not found."""
    fake = {"BACKEND": "tests.fakes.HashEmbedder"}
    settings.RAG_BACKENDS = {**settings.RAG_BACKENDS, "embedder": fake}
    ours, other = (
        Document.objects.create(collection=collection, name=name, title=name) for name in "ab"
    )
    add_version(ours, ("Valves are made of brass.", "Pumps need oil."), HashEmbedder())
    add_version(other, ("Valves of steel.",), HashEmbedder())
    response = admin_client.get(url_of(ours), {"q": "What are valves made of?"})
    hits = response.context["tried"].hits
    assert hits[0].text == "Valves are made of brass."
    assert {hit.document_id for hit in hits} == {ours.pk}
    page = response.content.decode()
    assert all(f"<dt>{stage}</dt>" in page for stage in ("vector", "fulltext", "reranked"))


@pytest.mark.django_db(transaction=True)
def test_search_without_the_embedding_model_says_so(
    admin_client: Client, collection: Collection, settings: Any
) -> None:
    """It goes on by words alone."""
    document = Document.objects.create(collection=collection, name="a", title="a")
    add_version(document, ("Valves are made of brass.",), HashEmbedder())
    fake = {"BACKEND": "tests.fakes.FailingEmbedder"}
    settings.RAG_BACKENDS = {**settings.RAG_BACKENDS, "embedder": fake}
    page = page_of(admin_client, document, q="valves")
    assert "only the words were searched for" in page


def test_search_of_what_is_not_searched_says_why(
    admin_client: Client, document: Document, upload: UploadFile
) -> None:
    Document.objects.update(enabled=False)
    assert "This document is disabled" in page_of(admin_client, document)
    waiting = upload("b.txt", b"b").document
    assert "no version is ready" in page_of(admin_client, waiting)


def test_metadata_is_edited(
    admin_client: Client, document: Document, collection: Collection
) -> None:
    """Staff see what the file says, and say otherwise; what cannot be stored is refused."""
    ready(document, metadata={"author": ["<b>Ann</b>", "Bob"]})
    assert "&lt;b&gt;Ann&lt;/b&gt;, Bob</dd>" in page_of(admin_client, document)
    form = {"title": "A", "collection": collection.pk, "enabled": "on"}
    url = url_of(document)
    assert admin_client.post(url, form | {"metadata": '{"author": "Cy"}'}).status_code == 302
    assert Document.objects.get().metadata == {"author": "Cy"}
    refused = admin_client.post(url, form | {"metadata": '{"a.b": 1}'})
    assert "cannot be a key" in refused.content.decode()
    assert admin_client.post(url, form | {"metadata": ""}).status_code == 302
    assert Document.objects.get().metadata == {}


def test_collection_with_a_document_of_this_name_is_refused(
    admin_client: Client, document: Document
) -> None:
    """With a message, where the database would only fail."""
    other = Collection.objects.create(name="Other")
    Document.objects.create(collection=other, name=document.name, title="B")
    form = {"title": "A", "collection": other.pk, "enabled": "on", "metadata": "{}"}
    page = admin_client.post(url_of(document), form).content.decode()
    assert "There is a document “a.txt” in Other already." in page


def test_buttons_lead_back_to_the_page(admin_client: Client, document: Document) -> None:
    data = {"action": "disable", "_selected_action": str(document.pk), "from_page": "1"}
    response = admin_client.post("/admin/retrieval/document/", data)
    assert response["Location"] == url_of(document)
    document.refresh_from_db()
    assert not document.enabled


def test_viewers_are_offered_nothing_to_change(staff: Staff, document: Document) -> None:
    """The text is there, the buttons are not; whoever may not view sees nothing."""
    add_chunks(document.versions.get(), 1)
    page = page_of(staff("view_document"), document)
    assert "First." in page
    for absent in ('name="action"', "/delete/", "/chunk/", 'name="_save"'):
        assert absent not in page
    assert staff().get(url_of(document)).status_code == 403
    may_all = page_of(staff("view_document", "change_document", "view_chunk"), document)
    assert all(present in may_all for present in ('value="disable"', "/chunk/", 'name="_save"'))


def test_large_document_takes_few_queries(admin_client: Client, document: Document) -> None:
    """As many as a small one, and no text but the part that is shown."""

    def queries() -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            page_of(admin_client, document)
        return [query["sql"] for query in captured]

    queries()
    few = len(queries())
    version = document.versions.get()
    add_chunks(version, 300)
    for n in range(2, 20):
        DocumentVersion.objects.create(document=document, number=n, sha256="", size=1)
    sent = queries()
    assert len(sent) <= few + 2 <= 22
    whole = '"retrieval_documentversion"."text"'
    assert not [sql for sql in sent if whole in sql.replace(f"({whole}", "")]
