"""What managers find in the admin: theirs, and nothing of collections that others manage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from retrieval.ingestion.ledger import Reason, fail
from retrieval.ingestion.uploads import add_document
from retrieval.models import Chunk, Collection, Document, DocumentVersion, ErrorClass, Stage
from tests.retrieval.conftest import ready

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]

LIST = "/admin/retrieval/document/"
UPLOAD = "/admin/retrieval/document/upload/"
# All that may be permitted on what retrieval has, but for managing everything.
BUT_ALL = ("manage_all_collections", "see_all_collections", "publish_collection")
Failed = Callable[[DocumentVersion], None]


@pytest.fixture
def ours(db: None) -> Collection:
    return Collection.objects.create(name="Ours")


@pytest.fixture
def theirs(db: None) -> Collection:
    return Collection.objects.create(name="Theirs", visibility="restricted")


@pytest.fixture
def manager(ours: Collection, client: Client) -> Client:
    """Sign in somebody who may do everything, but in one collection only."""
    user = User.objects.create_user("ada", is_staff=True)
    permissions = Permission.objects.filter(content_type__app_label="retrieval")
    user.user_permissions.set(permissions.exclude(codename__in=BUT_ALL))
    ours.managers.add(user)
    client.force_login(user)
    return client


def document(collection: Collection, name: str) -> Document:
    return add_document(collection, name, ContentFile(b"text", name)).document


def with_chunk(collection: Collection, name: str) -> Document:
    """Make a document that is ready, of a type, in a language and with an error of its own."""
    made = document(collection, name)
    version = ready(made, media_type=f"text/x-{name}", language="de", error_code=f"of-{name}")
    Chunk.objects.create(version=version, ordinal=0, text=f"{name} says", char_start=0, char_end=9)
    return made


def broken(collection: Collection, name: str) -> DocumentVersion:
    version = document(collection, name).versions.get()
    fail(version.pk, Reason("corrupt", ErrorClass.FILE, f"{name} is broken."))
    return version


def page(client: Client, url: str, **query: Any) -> str:
    response = client.get(url, query)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("query", [{}, {"q": "x"}])
@pytest.mark.parametrize("model", ["document", "chunk", "collection"])
def test_lists_and_their_searches_hold_theirs_only(
    model: str, query: dict[str, str], manager: Client, ours: Collection, theirs: Collection
) -> None:
    Collection.objects.update(description="x")
    with_chunk(ours, "own-x")
    with_chunk(theirs, "other-x")
    response = manager.get(f"/admin/retrieval/{model}/", query)
    found = response.context["cl"]
    assert found.result_count == 1
    assert found.full_result_count in {1, None}
    html = response.content.decode()
    assert "other-x" not in html
    assert "Theirs" not in html


def test_filters_offer_what_occurs_in_theirs_only(
    manager: Client, ours: Collection, theirs: Collection
) -> None:
    with_chunk(ours, "own")
    with_chunk(theirs, "other")
    html = page(manager, LIST)
    assert "text/x-own" in html
    assert "text/x-other" not in html
    assert "Of other" not in html
    assert str(theirs.pk) not in html


def test_filters_ask_for_nothing_elsewhere(manager: Client, theirs: Collection) -> None:
    """An address with another collection's id finds nothing."""
    document(theirs, "other.txt")
    response = manager.get(LIST, {"collection__id__exact": str(theirs.pk)})
    assert response.status_code in {200, 302}
    assert "other.txt" not in response.content.decode()


@pytest.mark.parametrize("page_name", ["change", "delete", "history"])
@pytest.mark.parametrize("model", ["document", "chunk", "collection"])
def test_pages_of_others_things_are_as_of_things_that_are_not_there(
    model: str, page_name: str, manager: Client, theirs: Collection
) -> None:
    made = with_chunk(theirs, "other")
    key = {"document": made, "collection": theirs, "chunk": Chunk.objects.get()}[model].pk
    answers = []
    for each in (key, uuid4()):
        url = reverse(f"admin:retrieval_{model}_{page_name}", args=[each])
        got = manager.get(url)
        posted = manager.post(url, {"title": "Mine", "name": "Mine", "post": "yes"})
        answers.append([(r.status_code, r.get("Location")) for r in (got, posted)])
    assert answers[0] == answers[1]
    assert {*answers[0]} <= {(302, "/admin/"), (403, None)}
    assert Document.objects.get().title == "other"
    assert Collection.objects.filter(name="Theirs").exists()


@pytest.mark.parametrize(
    "action", ["retry_failed", "reingest", "disable", "enable", "move", "delete_selected"]
)
def test_actions_do_nothing_to_others_documents(
    action: str, manager: Client, ours: Collection, theirs: Collection
) -> None:
    version = broken(theirs, "other")
    data = {"action": action, "_selected_action": [version.document_id], "post": "yes"}
    for more in ({}, {"target": str(ours.pk)}, {"select_across": "1"}):
        html = manager.post(LIST, data | more, follow=True).content.decode()
        assert "other" not in html.replace("another", "")
    unchanged = Document.objects.get()
    assert (unchanged.enabled, unchanged.collection) == (True, theirs)
    assert unchanged.versions.get().stage == Stage.FAILED


def test_documents_are_moved_to_theirs_only(
    manager: Client, ours: Collection, theirs: Collection
) -> None:
    moved = document(ours, "own.txt")
    data = {"action": "move", "_selected_action": [moved.pk]}
    assert "Theirs" not in manager.post(LIST, data).content.decode()
    html = manager.post(LIST, data | {"target": str(theirs.pk)}).content.decode()
    assert "Select a valid choice" in html
    moved.refresh_from_db()
    assert moved.collection == ours


def test_a_document_s_own_form_offers_theirs_only(
    manager: Client, ours: Collection, theirs: Collection
) -> None:
    made = document(ours, "own.txt")
    url = reverse("admin:retrieval_document_change", args=[made.pk])
    assert "Theirs" not in page(manager, url)
    data = {"title": "t", "collection": str(theirs.pk), "enabled": "on", "metadata": "{}"}
    assert "Select a valid choice" in manager.post(url, data).content.decode()
    made.refresh_from_db()
    assert made.collection == ours


def test_a_version_of_another_document_is_not_shown_on_ones_own(
    manager: Client, ours: Collection, theirs: Collection
) -> None:
    own, other = with_chunk(ours, "own"), with_chunk(theirs, "other")
    DocumentVersion.objects.filter(document=other).update(text="secret")
    url = reverse("admin:retrieval_document_change", args=[own.pk])
    html = page(manager, url, version=str(other.versions.get().pk))
    assert "secret" not in html
    assert "other says" not in html


def test_the_queue_is_that_of_theirs(manager: Client, ours: Collection, theirs: Collection) -> None:
    document(ours, "own.txt")
    document(theirs, "other.txt")
    broken(theirs, "broken")
    response = manager.get(f"{LIST}queue/")
    html = response.content.decode()
    assert "own.txt" in html
    assert "other.txt" not in html
    assert "broken" not in html
    assert "Theirs" not in html
    summary = response.context["summary"]
    assert (summary.waiting, summary.failed) == (1, 0)
    assert summary.documents_a_minute == 0


def test_all_that_is_retried_is_theirs(
    manager: Client, ours: Collection, theirs: Collection
) -> None:
    own, other = broken(ours, "own"), broken(theirs, "other")
    assert "Retry all failed (1)" in page(manager, LIST)
    html = manager.post(f"{LIST}retry-all/", follow=True).content.decode()
    assert "1 document is queued again." in html
    own.refresh_from_db()
    other.refresh_from_db()
    assert (own.stage, other.stage) == (Stage.QUEUED, Stage.FAILED)


def test_the_list_does_not_follow_others_versions(manager: Client, theirs: Collection) -> None:
    document(theirs, "other.txt")
    assert not manager.get(LIST).context["active"]


def test_stages_of_others_versions_are_not_told(
    manager: Client, ours: Collection, theirs: Collection
) -> None:
    """They look as if there were none."""
    own, other = document(ours, "a").versions.get(), broken(theirs, "b")
    html = page(manager, f"{LIST}stages/", version=[str(own.pk), str(other.pk)])
    assert f'id="stage-{own.pk}" data-state="queued"' in html
    assert f'id="stage-{other.pk}" data-state="gone"' in html
    assert "is broken" not in html
    assert "is broken" not in page(manager, UPLOAD, version=str(other.pk))


def test_uploads_go_to_theirs_only(manager: Client, ours: Collection, theirs: Collection) -> None:
    assert "Theirs" not in page(manager, UPLOAD, collection=str(theirs.pk))
    for target in ({"collection": str(theirs.pk)}, {"new_collection": "Theirs"}):
        data = {**target, "files": [SimpleUploadedFile("a.txt", b"a")]}
        response = manager.post(UPLOAD, data, headers={"HX-Request": "true"})
        assert "data-version=" not in response.content.decode()
        assert "data-problem" in response.content.decode()
    assert not Document.objects.exists()


def test_who_makes_a_collection_manages_it(manager: Client) -> None:
    """On the upload page and on its own page."""
    data = {"new_collection": "New", "files": [SimpleUploadedFile("a.txt", b"a")]}
    assert (
        "data-version="
        in manager.post(UPLOAD, data, headers={"HX-Request": "true"}).content.decode()
    )
    data = {"name": "Newer", "visibility": "restricted"}
    assert manager.post("/admin/retrieval/collection/add/", data).status_code == 302
    user = User.objects.get()
    assert {c.name for c in Collection.objects.managed_by(user)} == {"New", "Newer", "Ours"}


def test_who_manages_nothing_is_told_so(
    client: Client, ours: Collection, theirs: Collection
) -> None:
    user = User.objects.create_user("eve", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="add_document"))
    client.force_login(user)
    html = page(client, UPLOAD)
    assert "You manage no collection yet." in html
    assert "Ours" not in html


def test_a_right_taken_away_counts_for_the_next_request(manager: Client, ours: Collection) -> None:
    made = document(ours, "own.txt")
    url = reverse("admin:retrieval_document_change", args=[made.pk])
    assert manager.get(url).status_code == 200
    ours.managers.clear()
    assert manager.get(url).status_code == 302
    assert "own.txt" not in page(manager, LIST)


def test_who_manages_everything_finds_everything(
    client: Client, ours: Collection, theirs: Collection
) -> None:
    document(ours, "own.txt")
    document(theirs, "other.txt")
    user = User.objects.create_user("root", is_staff=True)
    wanted = ("view_document", "manage_all_collections")
    user.user_permissions.set(Permission.objects.filter(codename__in=wanted))
    client.force_login(user)
    html = page(client, LIST)
    assert "own" in html
    assert "other" in html
