"""Watching folders: what appears or changes there is taken in, what vanishes is deleted."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import awatch

from retrieval.database import in_thread
from retrieval.ingestion.archives import Taken
from retrieval.ingestion.folders import Chosen, Found, find, found_in
from retrieval.ingestion.incoming import UploadError, clean_name
from retrieval.ingestion.pipeline import title_of
from retrieval.ingestion.retention import delete
from retrieval.ingestion.taking import Intake
from retrieval.ingestion.tasks import PASSING
from retrieval.models import Document, DocumentVersion

logger = logging.getLogger(__name__)

# A file is read when nothing about it has changed for so long: it may be half written before.
SETTLE_SECONDS = 1.0
LONG_AGO = float("-inf")
TICK_SECONDS = 0.2

Signature = tuple[int, int, int] | None
"""A file's inode, size and time of change; None if it is gone."""


class WatchError(Exception):
    """A watched folder is gone; nothing is deleted for that."""


@dataclass
class Events:
    """Who is told what happened; paths are those of files."""

    taken: Callable[[Taken], None]
    removed: Callable[[Path], None]
    renamed: Callable[[Path, Path], None]


@dataclass
class Watch:
    """Folders that are watched, and the documents that their files have become."""

    roots: Sequence[Path]
    chosen: Chosen
    intake: Intake
    events: Events
    keep_removed: bool = False
    settle_seconds: float = SETTLE_SECONDS
    documents: dict[Path, set[uuid.UUID]] = field(default_factory=dict)
    _pending: dict[Path, tuple[Signature, float]] = field(default_factory=dict)

    async def run(self, stop: asyncio.Event) -> None:
        """Take in what is there, then follow what happens, until `stop` is set.

        Raises WatchError.
        """
        changes = awatch(
            *self.roots,
            watch_filter=None,
            debounce=int(1000 * TICK_SECONDS),
            rust_timeout=int(1000 * TICK_SECONDS),
            yield_on_timeout=True,
            stop_event=stop,
        )
        begun = False
        async for batch in changes:
            # Folders are watched by now: what happens while they are searched is not missed.
            if not begun:
                begun = True
                for found in find(self.roots, self.chosen):
                    self._pending[found.path] = (_signature(found.path), LONG_AGO)
            if gone := next((root for root in self.roots if not root.is_dir()), None):
                raise WatchError(f"The folder {gone} is gone.")
            for _, path in batch:
                self._pending[Path(path)] = (_signature(Path(path)), time.monotonic())
            if due := self._settled():
                await self._try(due)

    async def _try(self, due: Sequence[Path]) -> None:
        try:
            await in_thread(self._apply, due)
        except PASSING:
            logger.warning("The database is away; %s changes wait for it", len(due))
            again = time.monotonic()
            self._pending |= {path: (_signature(path), again) for path in due}

    def _settled(self) -> list[Path]:
        """Return the paths that nothing happens to any more."""
        now = time.monotonic()
        due = []
        for path, (signature, since) in list(self._pending.items()):
            current = _signature(path)
            if current != signature:
                self._pending[path] = (current, now)
            elif now - since >= self.settle_seconds:
                del self._pending[path]
                due.append(path)
        return due

    def _apply(self, paths: Sequence[Path]) -> None:
        gone = [path for path in paths if not path.exists()]
        # A folder that vanished takes its files with it, one that appeared brings some.
        removed = [
            known
            for known in self.documents
            if not known.exists() and any(known == path or path in known.parents for path in gone)
        ]
        found: dict[Path, Found] = {}
        for path in paths:
            for each in self._files_at(path):
                found[each.path] = each
        for old in removed:
            if new := self._renamed(old, found.values()):
                del found[new.path]
                self.events.renamed(old, new.path)
            else:
                self._remove(old)
        self._take(found.values())

    def _files_at(self, path: Path) -> Iterable[Found]:
        root = next((root for root in self.roots if root in path.parents), None)
        if root is None:
            return
        if path.is_dir():
            for each in find([path], Chosen(hidden=True)):
                if self.chosen.takes(each.path, root):
                    yield found_in(root, each.path)
        elif path.is_file() and self.chosen.takes(path, root):
            yield found_in(root, path)

    def _take(self, files: Iterable[Found]) -> None:
        for found in files:
            documents = set()
            for taken in self.intake.take(found):
                if taken.upload is not None:
                    documents.add(taken.upload.document.pk)
                self.events.taken(taken)
            # What is refused now was taken before, and stays; what a new archive lacks does not.
            if documents:
                before = self.documents.pop(found.path, set())
                self.documents[found.path] = documents
                self._delete(before - documents)

    def _remove(self, path: Path) -> None:
        self._delete(self.documents.pop(path))
        self.events.removed(path)

    def _delete(self, documents: set[uuid.UUID]) -> None:
        kept = set().union(*self.documents.values()) if documents else set()
        if not self.keep_removed and (alone := documents - kept):
            delete(Document.objects.filter(pk__in=alone))

    def _renamed(self, old: Path, found: Iterable[Found]) -> Found | None:
        """Give the document of a file its new name, if one with its bytes has appeared."""
        documents = self.documents[old]
        if len(documents) != 1:
            return None
        (key,) = documents
        version = DocumentVersion.objects.filter(document=key).defer("text").first()
        if version is None:
            return None
        for new in found:
            if new.path not in self.documents and _has_bytes(new.path, version):
                if not _rename(key, new):
                    return None
                self.documents[new.path] = self.documents.pop(old)
                return new
        return None


def _rename(document: uuid.UUID, found: Found) -> bool:
    """Return whether a document could be given the name of a file."""
    try:
        name = clean_name(found.path.name, found.folder)
    except UploadError:
        return False
    kept = Document.objects.filter(pk=document).first()
    if kept is None or Document.objects.filter(collection=kept.collection_id, name=name).exists():
        return False
    if kept.title == title_of(kept.name):
        kept.title = title_of(name)
    kept.name = name
    kept.save(update_fields=["name", "title"])
    return True


def _has_bytes(path: Path, version: DocumentVersion) -> bool:
    try:
        if path.stat().st_size != version.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == version.sha256
    except OSError:
        return False


def _signature(path: Path) -> Signature:
    try:
        status = os.stat(path)  # noqa: PTH116 - once for all of it
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):
        # It changes with each of its files, which are told of themselves.
        return status.st_ino, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns
