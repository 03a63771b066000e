"""Taking files in: names, limits, versions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from retrieval.ingestion.ledger import Reason, fail
from retrieval.ingestion.uploads import Upload, UploadError, add_document, clean_name
from retrieval.models import Collection, Document, DocumentVersion, ErrorClass

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\a.pdf", "a.pdf"),
        ("a\x00b\n.pdf", "ab.pdf"),
        ("Ünïcødé “name” – 日本語 (v2).txt", "Ünïcødé “name” – 日本語 (v2).txt"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("\u200fدוח\u200e.pdf", "دוח.pdf"),
        ("a\u200bb\ufeff\U000e0041\u2066.txt", "ab.txt"),
        ("half \ud83d of one.txt", "half  of one.txt"),
        ("report.pdf. . .", "report.pdf"),
        ("می\u200cخواهم.txt", "می\u200cخواهم.txt"),
        ("\x1b[31mred.txt", "[31mred.txt"),
        ("con.txt", "con.txt"),
    ],
)
def test_names_are_cleaned(name: str, expected: str) -> None:
    """Folders and control characters go, the suffix of a long name stays."""
    assert clean_name(name) == expected


def test_long_name_is_cut_between_characters() -> None:
    """255 bytes never end within a character."""
    name = clean_name("語" * 200 + ".txt")
    assert len(name.encode()) <= 255
    assert name.endswith("語.txt")


@pytest.mark.parametrize("name", ["", "..", "a/", "\n", ". .", "\u202e", "\u200b\u200f", "\x00"])
def test_useless_names_are_refused(name: str) -> None:
    """A file needs a name."""
    with pytest.raises(UploadError):
        clean_name(name)


def test_folder_is_part_of_the_name() -> None:
    """Files of one name in different folders stay apart."""
    assert clean_name("a.txt", folder="one/../two") == "one/two/a.txt"


def stored(settings: Settings) -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_upload_is_stored_and_queued(
    upload: Callable[[str, bytes], Upload], settings: Settings
) -> None:
    """The file is stored under a generated name, hashed, and a job waits for it."""
    version = upload("my report.txt", b"text").version
    (path,) = stored(settings)
    assert path.name == f"{version.pk}.txt"
    assert path.read_bytes() == b"text"
    assert (version.size, version.sha256[:8]) == (4, "982d9e3e")
    assert version.document.title == "my report"
    assert ProcrastinateJob.objects.filter(args__version_id=str(version.pk)).count() == 1


def test_too_large_leaves_nothing(collection: Collection, settings: Settings) -> None:
    """The limit holds while the file streams by; what was written is deleted."""
    settings.UPLOAD_MAX_BYTES = 100_000
    with pytest.raises(UploadError, match="larger than"):
        add_document(collection, "a.txt", ContentFile(b"x" * 100_001))
    assert not stored(settings)
    assert not Document.objects.exists()


def test_same_bytes_are_unchanged(
    upload: Callable[[str, bytes], Upload], settings: Settings
) -> None:
    """The same file again is the version that is there."""
    first, again = upload("a.txt", b"text"), upload("a.txt", b"text")
    assert again.unchanged
    assert again.version == first.version
    assert len(stored(settings)) == 1


def test_other_bytes_are_a_new_version(upload: Callable[[str, bytes], Upload]) -> None:
    """A changed file of the same name is the document's next version."""
    first, second = upload("a.txt", b"one"), upload("a.txt", b"two")
    assert second.document == first.document
    assert (first.version.number, second.version.number) == (1, 2)


def test_failed_bytes_are_tried_again(upload: Callable[[str, bytes], Upload]) -> None:
    """What failed once may be uploaded again."""
    first = upload("a.txt", b"one")
    fail(first.version.pk, Reason("timeout", ErrorClass.FILE, "Took too long."))
    assert not upload("a.txt", b"one").unchanged


def test_database_failure_leaves_no_file(
    collection: Collection, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version, file and job come together or not at all."""

    def refuse(version: DocumentVersion) -> None:
        raise RuntimeError

    monkeypatch.setattr("retrieval.ingestion.uploads.defer_ingestion", refuse)
    with pytest.raises(RuntimeError):
        add_document(collection, "a.txt", ContentFile(b"x"))
    assert not stored(settings)
    assert not DocumentVersion.objects.exists()


def test_metadata_is_set_over_what_is_there(collection: Collection) -> None:
    """What is said at a later upload, even of the same bytes, adds to what was said."""
    for metadata in ({"year": 1, "team": "Sales"}, {"year": 2}, None):
        add_document(collection, "a.txt", ContentFile(b"a"), metadata=metadata)
    assert Document.objects.get().metadata == {"year": 2, "team": "Sales"}
