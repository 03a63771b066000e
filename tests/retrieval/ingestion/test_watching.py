"""Watched folders: what appears, changes, moves and vanishes, and what is only half there."""

import asyncio
import io
import shutil
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError

from retrieval.database import in_thread
from retrieval.ingestion.archives import Taken
from retrieval.ingestion.folders import Chosen
from retrieval.ingestion.taking import Intake
from retrieval.ingestion.watching import Events, Watch, WatchError
from retrieval.models import Collection, Document, DocumentVersion

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_SECONDS = 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "watched"
    root.mkdir()
    (root / "first.txt").write_text("first")
    return root


class Watched:
    """A watch that runs, and what it has told."""

    def __init__(self, folder: Path, collection: Collection, **options: Any) -> None:
        loop = asyncio.get_running_loop()
        self.told: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        self.root = folder

        def tell(*event: Any) -> None:
            loop.call_soon_threadsafe(self.told.put_nowait, event)

        def taken(each: Taken) -> None:
            tell("taken", self.name(Path(each.path)), each.error.code if each.error else "")

        self.watch = Watch(
            [folder],
            Chosen(exclude=["*.tmp"]),
            Intake(collection, {}),
            Events(
                taken,
                lambda path: tell("removed", self.name(path)),
                lambda old, new: tell("renamed", self.name(old), self.name(new)),
            ),
            **{"settle_seconds": 0.1, **options},
        )
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(self.watch.run(self.stop))

    def name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    async def next(self) -> tuple[Any, ...]:
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.told.get()


@pytest.fixture
async def watched(folder: Path, collection: Collection) -> AsyncIterator[Watched]:
    """Watch the folder; what was in it has been taken in."""
    watched = Watched(folder, collection)
    assert await watched.next() == ("taken", "first.txt", "")
    yield watched
    watched.stop.set()
    await asyncio.gather(watched.task, return_exceptions=True)


async def names() -> set[str]:
    return set(await in_thread(lambda: list(Document.objects.values_list("name", flat=True))))


async def keys() -> set[UUID]:
    return set(await in_thread(lambda: list(Document.objects.values_list("pk", flat=True))))


async def sizes(name: str) -> list[int]:
    """Return the sizes of a document's versions, the newest first."""
    versions = DocumentVersion.objects.filter(document__name=name)
    return await in_thread(lambda: list(versions.values_list("size", flat=True)))


async def test_new_file_is_taken(watched: Watched, folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "new.txt").write_text("new")
    assert await watched.next() == ("taken", "in/new.txt", "")
    assert await names() == {"first.txt", "in/new.txt"}


async def test_changed_file_is_the_next_version(watched: Watched, folder: Path) -> None:
    (folder / "first.txt").write_text("changed")
    assert await watched.next() == ("taken", "first.txt", "")
    assert await sizes("first.txt") == [7, 5]


async def test_file_is_not_read_while_it_is_written(folder: Path, collection: Collection) -> None:
    """It is taken once, whole, however long its writing takes."""
    watched = Watched(folder, collection, settle_seconds=0.5)
    await watched.next()
    with (folder / "slow.txt").open("w") as file:
        for part in range(6):
            file.write(f"part {part}\n")
            file.flush()
            await asyncio.sleep(0.15)  # a slow writer is what is tested
    assert await watched.next() == ("taken", "slow.txt", "")
    assert await sizes("slow.txt") == [42]
    watched.stop.set()
    await watched.task


async def test_vanished_file_takes_its_document_with_it(watched: Watched, folder: Path) -> None:
    (folder / "first.txt").unlink()
    assert await watched.next() == ("removed", "first.txt")
    assert not await names()


async def test_documents_can_be_kept(folder: Path, collection: Collection) -> None:
    watched = Watched(folder, collection, keep_removed=True)
    await watched.next()
    (folder / "first.txt").unlink()
    assert await watched.next() == ("removed", "first.txt")
    assert await names() == {"first.txt"}
    watched.stop.set()
    await watched.task


async def test_renamed_file_keeps_its_document(watched: Watched, folder: Path) -> None:
    before = await in_thread(Document.objects.get)
    (folder / "in").mkdir()
    (folder / "first.txt").rename(folder / "in" / "second.txt")
    assert await watched.next() == ("renamed", "first.txt", "in/second.txt")
    after = await in_thread(Document.objects.get)
    assert (after.pk, after.name, after.title) == (before.pk, "in/second.txt", "second")
    assert await sizes("in/second.txt") == [5]


async def test_renamed_folder_keeps_its_documents(watched: Watched, folder: Path) -> None:
    (folder / "old").mkdir()
    for name in ("a", "b"):
        (folder / "old" / name).write_text(name)
        await watched.next()
    before = await keys()
    (folder / "old").rename(folder / "new")
    assert {await watched.next(), await watched.next()} == {
        ("renamed", "old/a", "new/a"), ("renamed", "old/b", "new/b"),
    }  # fmt: skip
    assert await keys() == before


async def test_vanished_folder_takes_its_documents_with_it(watched: Watched, folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "a.txt").write_text("a")
    await watched.next()
    shutil.rmtree(folder / "in")
    assert await watched.next() == ("removed", "in/a.txt")
    assert await names() == {"first.txt"}


async def test_folder_that_is_moved_in_is_taken(
    watched: Watched, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("a")
    (tmp_path / "outside").rename(folder / "inside")
    assert await watched.next() == ("taken", "inside/a.txt", "")


async def test_excluded_and_hidden_files_are_left_alone(watched: Watched, folder: Path) -> None:
    for name in ("a.tmp", ".hidden", "last.txt"):
        (folder / name).write_text(name)
    assert await watched.next() == ("taken", "last.txt", "")


async def test_file_saved_by_way_of_another_is_one_change(watched: Watched, folder: Path) -> None:
    """As editors do: a temporary file is written, then takes the old one's name."""
    (folder / "first.txt~").write_text("edited")
    (folder / "first.txt~").rename(folder / "first.txt")
    assert await watched.next() == ("taken", "first.txt", "")
    assert await names() == {"first.txt"}
    assert await sizes("first.txt") == [6, 5]


async def test_refused_file_keeps_what_was_there(
    watched: Watched, folder: Path, settings: Any
) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    (folder / "first.txt").write_text("far too long")
    assert await watched.next() == ("taken", "first.txt", "too-large")
    assert await names() == {"first.txt"}


async def test_what_happens_while_the_database_is_away_is_taken_later(
    watched: Watched, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, away = Intake.take, [OperationalError()]

    def taken(self: Intake, found: Any) -> Any:
        if away:
            raise away.pop()
        return take(self, found)

    monkeypatch.setattr(Intake, "take", taken)
    (folder / "later.txt").write_text("later")
    assert await watched.next() == ("taken", "later.txt", "")
    assert not away


def packed(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return content.getvalue()


async def test_files_of_an_archive_come_and_go_with_it(watched: Watched, folder: Path) -> None:
    (folder / "a.zip").write_bytes(packed("one.txt", "two.txt"))
    assert await watched.next() == ("taken", "a.zip/one.txt", "")
    await watched.next()
    (folder / "a.zip").write_bytes(packed("two.txt", "three.txt"))
    await watched.next()
    await watched.next()
    (folder / "last.txt").write_text("what came before is done")
    await watched.next()
    assert await names() == {"first.txt", "two.txt", "three.txt", "last.txt"}
    (folder / "a.zip").unlink()
    assert await watched.next() == ("removed", "a.zip")
    assert await names() == {"first.txt", "last.txt"}


async def test_folder_that_is_gone_deletes_nothing(watched: Watched, folder: Path) -> None:
    """As when a disk is taken away."""
    shutil.move(folder, folder.with_name("elsewhere"))
    with pytest.raises(WatchError, match="is gone"):
        async with asyncio.timeout(WAIT_SECONDS):
            await watched.task
    assert await names() == {"first.txt"}
