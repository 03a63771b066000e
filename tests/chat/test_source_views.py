"""What the source panel gets of the server."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from chat.models import Citation, Run
from retrieval.models import Chunk, Collection, Document, DocumentVersion, Stage, Visibility
from tests import conversations

pytestmark = pytest.mark.django_db

LONG = "".join(f"Line {number} of many.\n" for number in range(2000))


@pytest.fixture
def ada(settings: Settings, tmp_path: Any) -> User:
    settings.MEDIA_ROOT = tmp_path
    return conversations.person("ada")


@pytest.fixture
def page(ada: User, client: Client) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def run(ada: User) -> Run:
    return conversations.answered(ada)


def opened(client: Client, run: Run, name: str = "citation", number: int = 0) -> str:
    response = client.get(reverse(f"chat:{name}", args=[run.answer_id, number]))
    assert response.status_code == 200
    return response.content.decode()


def with_file(**fields: Any) -> DocumentVersion:
    version = DocumentVersion.objects.get()
    version.file.save("file.pdf", ContentFile(b"%PDF-"))
    DocumentVersion.objects.update(**{"media_type": "application/pdf", **fields})
    return version


def test_of_a_pdf_the_page_is_shown_and_the_text_is_there_if_it_cannot_be(
    page: Client, run: Run
) -> None:
    version = with_file()
    html = opened(page, run)
    assert 'data-view="page"' in html
    assert f'data-file="/files/{version.pk}/"' in html
    assert '{"number": 2, "passage": "## The lamp' in html
    assert "<mark>The lamp can be seen from 22 miles away.</mark>" in html


def test_of_other_formats_the_text_is_shown(page: Client, run: Run) -> None:
    version = with_file(media_type="text/markdown")
    html = opened(page, run)
    assert 'data-view="text"' in html
    assert "page-view" not in html
    assert f"/files/{version.pk}/?download" in html


def test_a_file_that_is_gone_is_neither_shown_nor_offered(page: Client, run: Run) -> None:
    version = with_file()
    version.file.storage.delete(str(version.file.name))
    html = opened(page, run)
    assert 'data-view="text"' in html
    assert "?download" not in html
    assert "<mark>The lamp" in html


def test_a_file_one_may_not_have_is_not_offered(page: Client, run: Run) -> None:
    with_file()
    Document.objects.update(enabled=False)  # for its managers only
    html = opened(page, run)
    assert "?download" not in html
    assert "<mark>The lamp" in html


def test_an_old_version_is_named_as_one(page: Client, run: Run) -> None:
    assert "Version 1<" in opened(page, run)
    document = Document.objects.get()
    newer = DocumentVersion.objects.create(document=document, number=3, size=1, stage=Stage.READY)
    Document.objects.update(current_version=newer)
    for html in (opened(page, run), opened(page, run, "source", 2)):
        assert "Version 1 of 3; the answer was written from this one." in html


def test_a_deleted_document_says_so(page: Client, run: Run) -> None:
    with_file()
    Document.objects.update(deleted_at=timezone.now())
    html = opened(page, run)
    assert "was deleted after the answer was written" in html
    assert "?download" not in html


@pytest.mark.parametrize(
    ("support", "says"),
    [("unsupported", "does not support the sentence"), ("partly", "only in part")],
)
def test_how_well_a_passage_supports_the_answer_is_said(
    page: Client, run: Run, support: str, says: str
) -> None:
    for before in ("", "supported"):
        Citation.objects.update(support=before)
        assert "data-support" not in opened(page, run)
    Citation.objects.update(support=support)
    assert says in opened(page, run)


def test_nothing_is_said_of_what_one_may_no_longer_see(page: Client, run: Run) -> None:
    with_file()
    Citation.objects.update(support="unsupported")
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    html = opened(page, run)
    assert "You may no longer see this document" in html
    for word in ("data-support", "?download", "page-view", "Version", "lamp", "Lighthouses"):
        assert word not in html


@pytest.fixture
def middle(ada: User) -> Run:
    """Return an answer that cites the middle of a long text."""
    version = conversations.document(LONG)
    start, end = LONG.index("Line 1000 "), LONG.index("Line 1010 ")
    Chunk.objects.update(char_start=start, char_end=end, text=LONG[start:end])
    run = conversations.answered(ada, version=version)
    Citation.objects.update(quote="Line 1001 of many.")
    return run


@pytest.mark.parametrize("name", ["citation", "source"])
def test_more_of_a_long_text_comes_a_piece_at_a_time(page: Client, middle: Run, name: str) -> None:
    html = opened(page, middle, name, 1)
    for side in ("before", "after"):
        more = re.search(rf'hx-get="([^"]+\?{side}=\d+)"', html)
        assert more
        piece = page.get(more[1])
        assert piece.status_code == 200
        assert f"Show more {side}" in piece.content.decode()
        assert f"?{side}=" in piece.content.decode()
    assert "Show more before" not in page.get(more[1].split("?")[0] + "?before=9").content.decode()


@pytest.mark.parametrize("query", ["before=x", "after=-1", "after=99999999999", "before=²"])
def test_a_position_that_is_none_is_not_found(page: Client, middle: Run, query: str) -> None:
    url = reverse("chat:citation_text", args=[middle.answer_id, 0])
    assert page.get(f"{url}?{query}").status_code == 404


def test_more_is_not_shown_of_what_one_may_no_longer_see(page: Client, middle: Run) -> None:
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    for name in ("citation_text", "source_text"):
        url = reverse(f"chat:{name}", args=[middle.answer_id, 1])
        assert page.get(f"{url}?after=9").status_code == 404


def test_others_get_nothing_of_it(client: Client, middle: Run) -> None:
    client.force_login(conversations.person("bob", is_staff=True, is_superuser=True))
    for name in ("citation_text", "source_text"):
        url = reverse(f"chat:{name}", args=[middle.answer_id, 1])
        assert client.get(f"{url}?after=9").status_code == 404
