"""`manage.py ingest`: what it takes, what it prints, how it exits."""

import json
import os
import signal
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from retrieval.database import in_thread
from retrieval.models import Collection, Document

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _surroundings(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder", "OPTIONS": {}}
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good files of one name, a hidden one, and a broken one."""
    root = tmp_path / "Handbook"
    (root / "part").mkdir(parents=True)
    (root / "a.txt").write_text("The first text.")
    (root / "part" / "a.txt").write_text("The second text.")
    (root / ".hidden").write_text("Nothing to see.")
    (root / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    return root


def ingest(*args: str | Path, **options: Any) -> tuple[dict[str, Any], str | None]:
    """Run the command; return its JSON and the message it failed with, if it did."""
    output, failure = StringIO(), None
    try:
        call_command(
            "ingest", *map(str, args), json=True, stdout=output, stderr=StringIO(), **options
        )
    except CommandError as error:
        failure = str(error)
    return json.loads(output.getvalue()), failure


def test_folder_becomes_a_collection(folder: Path) -> None:
    """Without a name the collection is the folder's; the good are ready, the broken is said."""
    result, failure = ingest(folder, wait=True)
    assert result["summary"] | {"seconds": 0} == {
        "ready": 2, "failed": 1, "unchanged": 0, "queued": 0, "seconds": 0,
    }  # fmt: skip
    files = {Path(file["path"]).relative_to(folder).as_posix(): file for file in result["files"]}
    assert set(files) == {"a.txt", "part/a.txt", "broken.pdf"}
    assert files["broken.pdf"]["error"]["code"] == "corrupt"
    assert files["a.txt"] | {"seconds": 0, "path": ""} == {
        "path": "", "status": "ready", "error": None, "pages": None, "chunks": 1,
        "seconds": 0, "as_expected": None,
    }  # fmt: skip
    assert failure == "1 of 3 files failed."
    names = Document.objects.filter(collection__name="Handbook").values_list("name", flat=True)
    assert set(names) == {"a.txt", "part/a.txt", "broken.pdf"}


def test_without_wait_files_are_queued(folder: Path) -> None:
    """The command returns at once; a worker does the rest."""
    result, failure = ingest(folder / "a.txt", collection="Laws")
    assert [file["status"] for file in result["files"]] == ["queued"]
    assert failure is None
    assert Collection.objects.get().name == "Laws"


def test_second_time_is_unchanged(folder: Path) -> None:
    """Nothing is done again."""
    ingest(folder / "a.txt", wait=True)
    result, failure = ingest(folder / "a.txt", wait=True)
    assert [file["status"] for file in result["files"]] == ["unchanged"]
    assert failure is None


def test_deleted_meanwhile_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that somebody deletes while it is waited for has failed."""

    async def delete_instead(*args: object) -> None:
        await Document.objects.all().adelete()

    monkeypatch.setattr("retrieval.management.commands.ingest.wait", delete_instead)
    result, failure = ingest(folder / "a.txt", wait=True)
    assert result["files"][0]["error"]["code"] == "deleted"
    assert failure == "1 of 1 files failed."


def test_patterns_are_expanded(folder: Path) -> None:
    """A pattern that the shell left alone works too."""
    result, _ = ingest(folder / "**" / "*.txt")
    assert len(result["files"]) == 2


def test_too_large_file_fails_alone(folder: Path, settings: Settings) -> None:
    """A file above the limit is refused with its code; others are taken."""
    settings.UPLOAD_MAX_BYTES = 15
    result, failure = ingest(folder)
    codes = {Path(f["path"]).name: f["error"] and f["error"]["code"] for f in result["files"]}
    assert codes["broken.pdf"] == "too-large"
    assert failure is not None


@pytest.mark.parametrize("path", ["nothing-here.txt", "nothing/*.pdf"])
def test_missing_path_is_an_error(path: str, tmp_path: Path) -> None:
    """A path that names nothing is said, and nothing is made."""
    with pytest.raises(CommandError, match="There is no file or folder"):
        call_command("ingest", str(tmp_path / path))
    assert not Collection.objects.exists()


@pytest.mark.parametrize("missing", ["missing.md", "*.odt"])
def test_what_is_missing_fails_alone(missing: str, folder: Path) -> None:
    """The others are taken."""
    result, failure = ingest(folder / missing, folder / "a.txt", wait=True)
    assert [(Path(file["path"]).name, file["status"]) for file in result["files"]] == [
        (missing, "failed"),
        ("a.txt", "ready"),
    ]
    assert result["files"][0]["error"]["code"] == "missing"
    assert failure is not None


def test_lines_for_people(folder: Path) -> None:
    """Without --json there is a line a file."""
    output = StringIO()
    call_command("ingest", str(folder / "a.txt"), wait=True, stdout=output)
    assert "a.txt: ready, 1 chunks" in output.getvalue()


def manifest(folder: Path, *files: dict[str, Any]) -> Path:
    path = folder.parent / "manifest.json"
    path.write_text(json.dumps({"files": list(files)}))
    return path


def test_check_accepts_expected_failures(folder: Path) -> None:
    """Only the manifest's entries are reported; an expected failure is a success."""
    check = manifest(
        folder,
        {"path": "Handbook/a.txt", "expect": {"contains": ["first  text"]}},
        {"path": "Handbook/broken.pdf", "expect": {"error": "corrupt"}},
    )
    result, failure = ingest(folder, "--check", check)
    assert [file["as_expected"] for file in result["files"]] == [True, True]
    assert failure is None


def test_check_names_what_is_wrong(folder: Path) -> None:
    """Another text, another outcome, or a file that is missing is not as expected."""
    check = manifest(
        folder,
        {"path": "Handbook/a.txt", "expect": {"contains": ["another text"]}},
        {"path": "Handbook/part/a.txt", "expect": {"error": "encrypted"}},
        {"path": "Handbook/missing.txt", "expect": {"contains": []}},
    )
    result, failure = ingest(folder, "--check", check)
    assert [file["as_expected"] for file in result["files"]] == [False, False, False]
    assert failure == "3 of 3 files did not end as expected."


def test_manifest_that_is_none(folder: Path) -> None:
    """A manifest that cannot be read is said before anything is done."""
    with pytest.raises(CommandError, match="is not a manifest"):
        call_command("ingest", str(folder), "--check", str(folder / "a.txt"))


def test_metadata_is_given(folder: Path) -> None:
    """What the command is told of the documents is their metadata, by its type."""
    ingest(folder / "a.txt", metadata=["year=2020", "team=Sales"])
    assert Document.objects.get().metadata == {"year": 2020, "team": "Sales"}


def test_bad_metadata_is_an_error(folder: Path) -> None:
    """What is not KEY=VALUE ends the command before it takes anything."""
    with pytest.raises(CommandError, match="--metadata"):
        call_command("ingest", str(folder), metadata=["year"], stdout=StringIO())
    assert not Collection.objects.exists()


def packed(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, f"The text of {name}.")
    return path


def test_files_of_a_zip_are_documents(folder: Path) -> None:
    """Each is told by its path in the archive, which stands in the folders of the disk."""
    packed(folder / "part" / "a.zip", "in/b.txt", "../out.txt")
    result, failure = ingest(folder / "part", wait=True)
    found = {Path(f["path"]).relative_to(folder).as_posix(): f for f in result["files"]}
    assert found["part/a.zip/in/b.txt"]["status"] == "ready"
    assert found["part/a.zip/../out.txt"]["error"]["code"] == "bad-name"
    assert failure == "1 of 3 files failed."
    assert set(Document.objects.values_list("name", flat=True)) == {"a.txt", "in/b.txt"}


def test_check_takes_a_zip_as_one_file(folder: Path) -> None:
    """A manifest says what becomes of the file itself."""
    packed(folder / "a.zip", "b.txt")
    check = manifest(folder, {"path": "Handbook/a.zip", "expect": {"error": "unsupported"}})
    result, failure = ingest(folder, "--check", check)
    assert [file["as_expected"] for file in result["files"]] == [True]
    assert failure is None


def test_patterns_choose_files(folder: Path) -> None:
    """Patterns say what is taken of a folder."""
    (folder / "b.md").write_text("The third text.")
    result, _ = ingest(folder, "--include", "*.txt", "--include", "*.md", "--exclude", "part/")
    assert [Path(file["path"]).name for file in result["files"]] == ["a.txt", "b.md"]


def test_address_that_is_refused_is_told(folder: Path) -> None:
    """What is no address is said at once, what the worker refuses when it has."""
    result, failure = ingest(
        folder / "a.txt", "--url", "file:///etc/passwd", "http://localhost:1/b.txt", wait=True
    )
    found = {file["path"]: file["error"] and file["error"]["code"] for file in result["files"]}
    assert found == {
        str(folder / "a.txt"): None,
        "file:///etc/passwd": "bad-address",
        "http://localhost:1/b.txt": "refused-address",
    }
    assert failure == "2 of 3 files failed."


def test_addresses_alone_make_a_collection_of_their_host() -> None:
    """Without --wait the worker fetches later."""
    result, failure = ingest("--url", "https://example.org/a.pdf")
    assert [file["status"] for file in result["files"]] == ["queued"]
    assert failure is None
    assert Collection.objects.get().name == "example.org"


def test_new_collection_is_open_to_whom_it_says_and_managed_by_the_user(folder: Path) -> None:
    """One that is there is not opened or closed by the way."""
    ada = User.objects.create_user("ada")
    said = {"collection": "Laws", "visibility": "restricted", "user": "ada"}
    assert ingest(folder / "a.txt", **said)[1] is None
    laws = Collection.objects.get()
    assert (laws.visibility, [*laws.managers.all()]) == ("restricted", [ada])
    assert ingest(folder / "a.txt", **said)[1] is None
    with pytest.raises(CommandError, match="is there already, and is restricted"):
        call_command("ingest", str(folder / "a.txt"), **{**said, "visibility": "public"})
    laws.refresh_from_db()
    assert laws.visibility == "restricted"


def test_fetched_file_that_is_known_is_unchanged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker deletes the version of a file that the document has already."""
    monkeypatch.setattr(
        "retrieval.management.commands.ingest.wait",
        lambda *args: in_thread(lambda: Document.objects.get().versions.all().delete()),
    )
    result, failure = ingest("--url", "https://example.org/a.pdf", wait=True)
    assert [file["status"] for file in result["files"]] == ["unchanged"]
    assert failure is None


class Interrupt(StringIO):
    """Sends Ctrl-C as soon as something is written that has `sign` in it."""

    def __init__(self, sign: str) -> None:
        super().__init__()
        self.sign = sign

    def write(self, text: str) -> int:
        if self.sign in text:
            os.kill(os.getpid(), signal.SIGINT)
        return super().write(text)


def test_watch_tells_each_file_and_ends_with_ctrl_c(folder: Path) -> None:
    """A JSON object a line as each has ended, and a summary; the exit code is 0."""
    (folder / "broken.pdf").unlink()
    output = Interrupt("part/a.txt")
    call_command(
        "ingest", str(folder), watch=True, wait=True, json=True, stdout=output, stderr=StringIO()
    )
    *files, last = map(json.loads, output.getvalue().splitlines())
    assert {file["status"] for file in files} == {"ready"}
    assert last["summary"]["ready"] == len(files)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("args", [["a.txt", "--watch"], ["--watch"]])
def test_watch_is_of_folders(folder: Path, args: list[str]) -> None:
    """Anything else is refused."""
    paths = [str(folder / arg) if arg == "a.txt" else arg for arg in args]
    with pytest.raises(CommandError, match="--watch needs folders"):
        call_command("ingest", *paths)


def test_pipe_is_not_waited_for(folder: Path) -> None:
    """Opening it would last for ever."""
    os.mkfifo(folder / "pipe")
    result, _ = ingest(folder / "pipe")
    assert result["files"][0]["error"]["code"] == "unreadable"
