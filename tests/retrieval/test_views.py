"""A document's file: who gets it, how it is sent, and what a browser makes of it."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from retrieval.ingestion.incoming import store
from retrieval.models import Collection, Document, DocumentVersion, Stage, Visibility
from retrieval.views import readable_by

pytestmark = pytest.mark.django_db

Make = Callable[..., DocumentVersion]
NAME = "Ünïcødé “name” – 日本語 (v2).txt"


@pytest.fixture(autouse=True)
def _media(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def make() -> Make:
    """Make a version that is ready, with a stored file."""

    def make(
        content: bytes = b"0123456789",
        name: str = "in/a.txt",
        media_type: str = "text/plain",
        **collection: Any,
    ) -> DocumentVersion:
        found, _ = Collection.objects.get_or_create(name="Test", defaults=collection)
        version = DocumentVersion(stage=Stage.READY, media_type=media_type, number=1)
        store(version, name, ContentFile(content))
        version.document = Document.objects.create(collection=found, name=name, title=name)
        version.save()
        return version

    return make


def url(version: DocumentVersion) -> str:
    return reverse("documents:file", args=[version.pk])


@pytest.fixture
def ada(client: Client) -> User:
    """Sign Ada in, who is no staff."""
    user = User.objects.create_user("ada")
    client.force_login(user)
    return user


def pieces(response: Any) -> list[bytes]:
    async def collect() -> list[bytes]:
        return [piece async for piece in response]

    assert response.streaming
    return asyncio.run(collect())


def get(client: Client, version: DocumentVersion, **headers: str) -> tuple[Any, bytes]:
    response = client.get(url(version), headers=headers)
    return response, b"".join(pieces(response))


def test_reader_of_the_collection_gets_the_file(ada: User, client: Client, make: Make) -> None:
    version = make(b"text", NAME)
    response, content = get(client, version)
    assert (response.status_code, content) == (200, b"text")
    assert response["Content-Length"] == "4"
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert response["Cache-Control"] == "private, no-cache"
    assert response["Content-Disposition"] == (
        "inline; filename*=utf-8''%C3%9Cn%C3%AFc%C3%B8d%C3%A9%20%E2%80%9Cname%E2%80%9D%20%E2%80%93"
        "%20%E6%97%A5%E6%9C%AC%E8%AA%9E%20%28v2%29.txt"
    )


def test_another_person_is_told_that_there_is_none(ada: User, client: Client, make: Make) -> None:
    version = make(visibility=Visibility.RESTRICTED)
    assert client.get(url(version)).status_code == 404
    assert client.get(reverse("documents:file", args=[uuid4()])).status_code == 404


def test_who_uploaded_it_has_no_right_of_their_own(ada: User, client: Client, make: Make) -> None:
    version = make(visibility=Visibility.RESTRICTED)
    Document.objects.update(uploaded_by=ada)
    assert client.get(url(version)).status_code == 404


def test_who_is_not_signed_in_is_led_to_the_sign_in(client: Client, make: Make) -> None:
    """Also where there is no such file: nothing is told of what there is."""
    for address in (url(make()), reverse("documents:file", args=[uuid4()])):
        response = client.get(address)
        assert response.status_code == 302
        assert response["Location"] == f"{reverse('login')}?next={address}"


def test_only_public_collections_are_for_everybody(make: Make) -> None:
    version = make(visibility=Visibility.SIGNED_IN)
    assert not readable_by(AnonymousUser()).exists()
    Collection.objects.update(visibility=Visibility.PUBLIC)
    assert readable_by(AnonymousUser()).get() == version


def test_managers_open_what_is_disabled_or_failed_and_readers_do_not(ada: User, make: Make) -> None:
    collection = make().document.collection
    manager = User.objects.create_user("grace")
    collection.managers.add(manager)
    for change in ({"stage": Stage.FAILED}, {"stage": Stage.READY}):
        DocumentVersion.objects.update(**change)
        assert readable_by(manager).exists()
        assert readable_by(ada).exists() == (change["stage"] == Stage.READY)
    Document.objects.update(enabled=False)
    assert readable_by(manager).exists()
    assert not readable_by(ada).exists()


def test_who_may_only_open_the_admin_is_a_reader_as_others_are(make: Make) -> None:
    make()
    staff = User.objects.create_user("grace", is_staff=True)
    assert readable_by(staff).exists()
    DocumentVersion.objects.update(stage=Stage.FAILED)
    assert not readable_by(staff).exists()
    DocumentVersion.objects.update(stage=Stage.READY)
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    assert not readable_by(staff).exists()


def test_who_was_deactivated_gets_nothing(make: Make) -> None:
    make()
    left = User.objects.create_user("left", is_superuser=True, is_active=False)
    assert not readable_by(left).exists()


def test_older_version_can_be_opened_and_a_deleted_document_not(ada: User, make: Make) -> None:
    old = make()
    DocumentVersion.objects.create(
        document=old.document, number=2, size=0, stage=Stage.READY, file="x"
    )
    assert old in readable_by(ada)
    Document.objects.update(deleted_at=datetime.now(UTC))
    assert not readable_by(ada).exists()


def test_version_without_a_file_is_none(ada: User, client: Client, make: Make) -> None:
    version = make()
    version.file.storage.delete(str(version.file.name))
    assert client.get(url(version)).status_code == 404
    DocumentVersion.objects.update(file="")
    assert client.get(url(version)).status_code == 404


@pytest.mark.parametrize(
    ("media_type", "content", "sent", "shown", "sandboxed"),
    [
        ("application/pdf", b"%PDF", "application/pdf", True, False),
        ("image/png", b"\x89PNG", "image/png", True, True),
        ("text/markdown", b"# Title", "text/plain; charset=utf-8", True, True),
        ("text/plain", b"\xe4\xf6", "application/octet-stream", False, True),
        ("text/html", b"<script>", "application/octet-stream", False, True),
        ("application/xhtml+xml", b"<html/>", "application/octet-stream", False, True),
        ("image/svg+xml", b"<svg/>", "application/octet-stream", False, True),
        ("application/xml", b"<a/>", "application/octet-stream", False, True),
        ("application/javascript", b"x()", "application/octet-stream", False, True),
        ("", b"<html>", "application/octet-stream", False, True),
        ("message/rfc822", b"From: a", "message/rfc822", False, True),
        ("application/epub+zip", b"PK", "application/epub+zip", False, True),
    ],
)
def test_nothing_is_sent_as_a_page(  # noqa: PLR0917
    ada: User,
    client: Client,
    make: Make,
    media_type: str,
    content: bytes,
    sent: str,
    *,
    shown: bool,
    sandboxed: bool,
) -> None:
    """Only what runs nothing is shown; everything else is saved, as bytes."""
    response = client.head(url(make(content, media_type=media_type)))
    assert response["Content-Type"] == sent
    assert response["Content-Disposition"].startswith("inline" if shown else "attachment")
    assert response["Content-Security-Policy"].startswith("sandbox;") == sandboxed


def test_saving_can_be_asked_for(ada: User, client: Client, make: Make) -> None:
    response = client.head(f"{url(make())}?download=1")
    assert response["Content-Disposition"] == 'attachment; filename="a.txt"'


def test_only_reading_is_allowed(ada: User, client: Client, make: Make) -> None:
    assert client.post(url(make())).status_code == 405


@pytest.mark.parametrize(
    ("asked", "status", "content", "said"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-30", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=8-100", 206, b"89", "bytes 8-9/10"),
        ("bytes=4-2", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
        ("bytes=0-1,4-5", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
    ],
)
def test_parts(  # noqa: PLR0917
    ada: User,
    client: Client,
    make: Make,
    asked: str,
    status: int,
    content: bytes,
    said: str | None,
) -> None:
    response, found = get(client, make(), range=asked)
    assert (response.status_code, found) == (status, content)
    assert response.headers.get("Content-Range") == said
    assert response["Content-Length"] == str(len(content))
    assert response["Accept-Ranges"] == "bytes"


def test_part_beyond_the_end(ada: User, client: Client, make: Make) -> None:
    response = client.get(url(make()), headers={"range": "bytes=10-"})
    assert response.status_code == 416
    assert response["Content-Range"] == "bytes */10"


def test_part_of_another_version_is_not_mixed_in(ada: User, client: Client, make: Make) -> None:
    version = make()
    part = {"range": "bytes=2-4"}
    same = f'"{version.sha256}"'
    for condition, status in (
        (same, 206),
        ('"other"', 200),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 200),
    ):
        response, _ = get(client, version, **part, **{"if-range": condition})
        assert response.status_code == status


def test_what_is_known_is_not_sent_again(ada: User, client: Client, make: Make) -> None:
    address = url(make())
    first = client.head(address)
    for headers in (
        {"if-none-match": first["ETag"]},
        {"if-modified-since": first["Last-Modified"]},
    ):
        response = client.get(address, headers=headers)
        assert (response.status_code, response.content) == (304, b"")
        assert response["Cache-Control"] == "private, no-cache"


def test_permission_goes_before_what_is_known(client: Client, make: Make) -> None:
    """Knowing the hash of a file is no right to hear that it is there."""
    version = make()
    response = client.get(url(version), headers={"if-none-match": f'"{version.sha256}"'})
    assert response.status_code == 302


def test_file_is_read_a_piece_at_a_time(ada: User, client: Client, make: Make) -> None:
    content = bytes(range(256)) * 1024
    version = make(content, media_type="application/pdf")
    found = pieces(client.get(url(version)))
    assert b"".join(found) == content
    assert max(map(len, found)) == 64 * 1024
