"""What a new installation begins with, and that it begins only once."""

import stat
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from chat.management.first_start import administrator
from chat.models import Assistant
from retrieval.models import Collection, Document, Stage

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _surroundings(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.delenv("DJANGO_SUPERUSER_PASSWORD", raising=False)


def test_an_administrator_is_made_with_a_password_that_works() -> None:
    made = administrator()
    user = User.objects.get(username=made.username)
    assert made.is_new
    assert user.is_superuser
    assert user.check_password(made.password)


def test_a_password_given_in_the_environment_is_used_and_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "chosen by hand")
    assert administrator().password == ""
    assert User.objects.get().check_password("chosen by hand")


def test_three_samples_are_queued_one_of_them_a_pdf() -> None:
    administrator()
    documents = Document.objects.filter(collection__name="Samples")
    assert documents.count() == 3
    assert documents.filter(name__endswith=".pdf").exists()
    assert {d.versions.get().stage for d in documents} == {Stage.QUEUED}


def test_the_default_assistant_greets_and_suggests_questions() -> None:
    administrator()
    assistant = Assistant.objects.get(is_default=True)
    assert assistant.greeting
    assert 3 <= len(assistant.suggested_questions) <= 4


def test_samples_that_were_deleted_do_not_come_back() -> None:
    made = administrator()
    Collection.objects.all().delete()
    again = administrator()
    assert again.username == made.username
    assert not again.is_new
    assert not Collection.objects.exists()


def test_uploaded_files_are_for_the_sites_own_user_only() -> None:
    administrator()
    for document in Document.objects.all():
        path = Path(document.versions.get().file.path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
