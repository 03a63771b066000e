"""Limits of uploading: files a day, and what all of them take."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.utils import timezone
from pytest_django import Settings

from retrieval.ingestion import fetched
from retrieval.ingestion.downloading import Download
from retrieval.ingestion.errors import FetchError
from retrieval.ingestion.fetching import add_url
from retrieval.ingestion.upload_limits import described
from retrieval.ingestion.uploads import Upload, UploadError, add_document
from retrieval.limits.models import Limit, StoredFile
from retrieval.models import Collection, Document, DocumentVersion

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def library(db: None) -> Collection:
    return Collection.objects.create(name="Library")


def upload(collection: Collection, user: User | None, name: str, size: int = 10) -> Upload:
    content = name.encode().ljust(size, b".")
    return add_document(collection, name, ContentFile(content, name), user)


def files(settings: Settings) -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_the_last_file_a_day_is_taken_and_the_next_is_refused_with_when_it_will_be(
    ada: User, library: Collection
) -> None:
    Limit.objects.create(user=ada, uploads_a_day=2)
    upload(library, ada, "a.txt")
    upload(library, ada, "b.txt")
    with pytest.raises(UploadError) as caught:
        upload(library, ada, "c.txt")
    assert caught.value.code == "quota-exceeded"
    assert caught.value.message.startswith("You may upload 2 files a day. You can upload more ")
    assert Document.objects.count() == 2


def test_files_of_yesterday_do_not_count(ada: User, library: Collection) -> None:
    Limit.objects.create(user=ada, uploads_a_day=1)
    upload(library, ada, "a.txt")
    StoredFile.objects.update(uploaded_at=timezone.now() - timedelta(hours=25))
    upload(library, ada, "b.txt")


def test_a_file_that_does_not_fit_is_refused_before_it_is_stored(
    ada: User, library: Collection, settings: Settings
) -> None:
    Limit.objects.create(user=ada, storage_bytes=25)
    upload(library, ada, "a.txt", 20)
    before = files(settings)
    with pytest.raises(UploadError, match="no room for this file: yours may take 25 bytes in all"):
        upload(library, ada, "b.txt", 6)
    assert files(settings) == before
    upload(library, ada, "b.txt", 5)


def test_what_is_deleted_makes_room_but_does_not_give_uploads_back(
    ada: User, library: Collection
) -> None:
    Limit.objects.create(user=ada, uploads_a_day=2, storage_bytes=10)
    upload(library, ada, "a.txt").document.delete()
    upload(library, ada, "b.txt").document.delete()
    with pytest.raises(UploadError, match="2 files a day"):
        upload(library, ada, "c.txt")


def test_a_file_that_is_there_already_does_not_count(ada: User, library: Collection) -> None:
    Limit.objects.create(user=ada, uploads_a_day=2)
    upload(library, ada, "a.txt")
    assert upload(library, ada, "a.txt").unchanged
    upload(library, ada, "b.txt")


def test_old_versions_take_room_too(ada: User, library: Collection) -> None:
    Limit.objects.create(user=ada, storage_bytes=25)
    upload(library, ada, "a.txt", 10)
    upload(library, ada, "a.txt", 11)
    with pytest.raises(UploadError, match="no room"):
        upload(library, ada, "a.txt", 12)


def test_files_of_nobody_and_of_others_are_not_limited_by_mine(
    ada: User, library: Collection
) -> None:
    Limit.objects.create(user=ada, uploads_a_day=0)
    upload(library, None, "a.txt")
    upload(library, User.objects.create_user("bob"), "b.txt")
    with pytest.raises(UploadError, match="You may not upload files"):
        upload(library, ada, "c.txt")


def test_an_address_counts_when_it_is_queued(ada: User, library: Collection) -> None:
    Limit.objects.create(user=ada, uploads_a_day=1)
    add_url(library, "https://example.org/a.txt", ada)
    with pytest.raises(UploadError, match="1 file a day"):
        add_url(library, "https://example.org/b.txt", ada)
    assert DocumentVersion.objects.count() == 1


def test_what_is_fetched_must_fit(ada: User, library: Collection, settings: Settings) -> None:
    Limit.objects.create(user=ada, storage_bytes=5)
    version = add_url(library, "https://example.org/a.txt", ada).version
    before = files(settings)
    with pytest.raises(FetchError) as caught:
        fetched._keep(version, Download("a.txt", ".txt"), ContentFile(b"123456"))
    assert caught.value.code == "quota-exceeded"
    assert files(settings) == before


def test_the_command_counts_files_as_those_of_a_person(
    ada: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Limit.objects.create(user=ada, uploads_a_day=1)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    with pytest.raises(CommandError):
        call_command("ingest", str(tmp_path), user="ada")
    assert "You may upload 1 file a day" in capsys.readouterr().out
    assert Document.objects.get().uploaded_by == ada
    with pytest.raises(CommandError, match="There is no user eve"):
        call_command("ingest", str(tmp_path), user="eve")


def test_the_page_says_what_is_left(ada: User, library: Collection) -> None:
    assert described(ada)["own"] == ""
    Limit.objects.create(user=ada, uploads_a_day=5, storage_bytes=2**20)
    upload(library, ada, "a.txt", 512)
    own = "Uploaded today: 1 of 5 files. Your files take 512 bytes of 1.0 MB."
    assert described(ada)["own"] == own


@pytest.mark.django_db(transaction=True)
def test_uploads_at_once_pass_by_no_limit(ada: User, library: Collection) -> None:
    Limit.objects.create(user=ada, uploads_a_day=2)

    def one(number: int) -> bool:
        try:
            upload(library, ada, f"{number}.txt")
        except UploadError:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(one, range(12))) == 2
    assert Document.objects.count() == 2
    connection.close()
