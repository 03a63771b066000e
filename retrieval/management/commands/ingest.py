"""`manage.py ingest`: put files and folders into a collection."""

from __future__ import annotations

import asyncio
import glob
import time
import uuid
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management import CommandError, CommandParser

from retrieval.database import in_thread
from retrieval.ingestion.metadata import MetadataError, from_pairs
from retrieval.ingestion.pipeline import ENDED
from retrieval.ingestion.uploads import UploadError, add_document
from retrieval.ingestion.worker import is_running, work
from retrieval.management import manifest
from retrieval.management.ready import ReadyCommand
from retrieval.models import Collection, DocumentVersion, Stage

POLL_SECONDS = 0.3


@dataclass
class Taken:
    """A file and what became of it: a version, or the reason there is none."""

    path: Path
    version: DocumentVersion | None = None
    unchanged: bool = False
    error: UploadError | None = None


class Command(ReadyCommand):
    help = "Put files and folders into a collection."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="File, folder or pattern.")
        parser.add_argument("--collection", metavar="NAME", help="Default: the folder's name.")
        parser.add_argument(
            "--metadata",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="Of every document, for filters; may be repeated. A JSON value is not text.",
        )
        parser.add_argument(
            "--wait", action="store_true", help="Until all are ready, working if no worker does."
        )
        parser.add_argument(
            "--check",
            type=_manifest,
            metavar="MANIFEST",
            help="Report its entries. Implies --wait.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        expected: dict[Path, manifest.Entry] = options["check"] or {}
        roots = [Path(path) for pattern in options["paths"] for path in _expand(pattern)]
        files = list(_files(roots))
        if expected:
            wanted = {path.resolve() for path in expected}
            files = [file for file in files if file[0].resolve() in wanted]
        if not files:
            raise CommandError("There are no files to ingest.")
        try:
            metadata = from_pairs(options["metadata"])
        except MetadataError as error:
            raise CommandError(f"--metadata: {error}") from error
        collection = _collection(options["collection"], roots[0])
        taken = [self.take(collection, *file, metadata) for file in files]
        waiting = [t.version.pk for t in taken if t.version is not None and not t.unchanged]
        if options["wait"] or expected:
            waiting += [t.version.pk for t in taken if t.version is not None and t.unchanged]
            try:
                asyncio.run(wait(waiting, self.show_progress))
            except KeyboardInterrupt:
                raise CommandError("Stopped. What is queued goes on when a worker runs.") from None
        self.report(taken, expected, time.monotonic() - began)

    def take(
        self, collection: Collection, path: Path, folder: str, metadata: dict[str, Any]
    ) -> Taken:
        """Add one file to the collection; others go on if it is refused."""
        try:
            with path.open("rb") as stream:
                upload = add_document(
                    collection, path.name, File(stream), folder=folder, metadata=metadata
                )
        except UploadError as error:
            return Taken(path, error=error)
        except OSError as error:
            reason = f"This file cannot be opened: {error.strerror}."
            return Taken(path, error=UploadError("unreadable", reason))
        return Taken(path, upload.version, upload.unchanged)

    def show_progress(self, stages: Counter[str], chunks: int) -> None:
        """Draw how far the files are, on a terminal only."""
        if self.stderr.isatty():
            total = stages.total()
            ended = sum(stages[stage] for stage in ENDED)
            bar = "█" * (20 * ended // total)
            line = f"\r{bar:░<20} {ended} of {total} files, {chunks} chunks"
            self.stderr.write(f"{line:<60}", style_func=str, ending="\n" if ended == total else "")
            self.stderr.flush()

    def report(
        self, taken: Sequence[Taken], expected: dict[Path, manifest.Entry], seconds: float
    ) -> None:
        """Print a line a file, or everything as JSON; raise CommandError if something failed."""
        entries = {path.resolve(): entry for path, entry in expected.items()}
        files = [_result(t, entries.get(t.path.resolve())) for t in taken]
        missing = set(entries) - {t.path.resolve() for t in taken}
        files += [_missing(path) for path in sorted(missing)]
        counts = Counter(file["status"] for file in files)
        if self.json:
            names = ("ready", "failed", "unchanged", "queued")
            summary = {name: counts[name] for name in names} | {"seconds": round(seconds, 2)}
            self.emit({"files": files, "summary": summary})
        else:
            for file in files:
                self.say(_line(file))
        if expected:
            wrong = sum(not file["as_expected"] for file in files)
            if wrong:
                raise CommandError(f"{wrong} of {len(files)} files did not end as expected.")
        elif counts["failed"]:
            raise CommandError(f"{counts['failed']} of {len(files)} files failed.")


async def wait(
    versions: Sequence[uuid.UUID], progress: Callable[[Counter[str], int], None]
) -> None:
    """Return when all versions have ended; works the queue itself when no worker does."""
    stop = asyncio.Event()
    own: asyncio.Task[None] | None = None
    try:
        while True:
            stages, chunks = await in_thread(_stages, versions)
            progress(stages, chunks)
            if all(stage in ENDED for stage in stages):
                return
            if own is None and not await in_thread(is_running):
                own = asyncio.create_task(work(stop), name="own worker")
            await asyncio.sleep(POLL_SECONDS)
    finally:
        stop.set()
        if own is not None:
            await own


def _stages(versions: Sequence[uuid.UUID]) -> tuple[Counter[str], int]:
    rows = DocumentVersion.objects.filter(pk__in=versions).values_list("stage", "embedded_count")
    stages: Counter[str] = Counter()
    chunks = 0
    for stage, embedded in rows:
        stages[stage] += 1
        chunks += embedded
    return stages, chunks


def _manifest(path: str) -> dict[Path, manifest.Entry]:
    try:
        return manifest.load(Path(path))
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _expand(pattern: str) -> list[str]:
    found = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    if not found:
        raise CommandError(f"There is no file or folder {pattern}.")
    return found


def _files(roots: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield every file, with its folder below the root it was found in; hidden ones are skipped."""
    for root in roots:
        if root.is_file():
            yield root, ""
            continue
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root)
            if path.is_file() and not any(part.startswith(".") for part in relative.parts):
                folder = relative.parent.as_posix()
                yield path, "" if folder == "." else folder


def _collection(name: str | None, root: Path) -> Collection:
    folder = root if root.is_dir() else root.parent
    name = (name or folder.resolve().name or "Documents").strip()[:200]
    collection, _ = Collection.objects.get_or_create(name=name)
    return collection


def _result(taken: Taken, entry: manifest.Entry | None) -> dict[str, Any]:
    result: dict[str, Any] = {
        "path": str(taken.path), "status": "failed", "error": None,
        "pages": None, "chunks": 0, "seconds": 0.0, "as_expected": None,
    }  # fmt: skip
    text = None
    if taken.error is not None:
        result["error"] = {"code": taken.error.code, "message": taken.error.message}
    elif taken.version is not None:
        version = DocumentVersion.objects.filter(pk=taken.version.pk).first()
        if version is None:
            result["error"] = {"code": "deleted", "message": "The document was deleted meanwhile."}
        else:
            text = version.text
            result |= _outcome(version, unchanged=taken.unchanged)
    if entry is not None:
        code = result["error"] and result["error"]["code"]
        result["as_expected"] = result["status"] != "queued" and manifest.as_expected(
            entry, text, code, result["pages"]
        )
    return result


def _outcome(version: DocumentVersion, *, unchanged: bool) -> dict[str, Any]:
    failed = version.stage == Stage.FAILED
    ended = "unchanged" if unchanged else "ready"
    status = "failed" if failed else ended if version.stage == Stage.READY else "queued"
    until = version.finished_at or version.created_at
    return {
        "status": status,
        "error": {"code": version.error_code, "message": version.error_message} if failed else None,
        "pages": version.page_count,
        "chunks": version.chunk_count,
        "seconds": 0.0 if unchanged else round((until - version.created_at).total_seconds(), 2),
    }


def _missing(path: Path) -> dict[str, Any]:
    error = {"code": "missing", "message": "The manifest names this file, but it is not there."}
    return {
        "path": str(path), "status": "failed", "error": error,
        "pages": None, "chunks": 0, "seconds": 0.0, "as_expected": False,
    }  # fmt: skip


def _line(file: dict[str, Any]) -> str:
    mark = {True: "as expected: ", False: "NOT AS EXPECTED: ", None: ""}[file["as_expected"]]
    if file["error"]:
        return f"{mark}{file['path']}: failed ({file['error']['code']}): {file['error']['message']}"
    pages = f"{file['pages']} pages, " if file["pages"] else ""
    detail = f", {pages}{file['chunks']} chunks, {file['seconds']:.1f} s"
    return f"{mark}{file['path']}: {file['status']}{'' if file['status'] == 'queued' else detail}"
