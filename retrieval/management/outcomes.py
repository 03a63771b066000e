"""What became of files, for people and as JSON: an object a file, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from retrieval.ingestion.archives import Taken
from retrieval.management import manifest
from retrieval.models import Document, DocumentVersion, Stage

Outcome = dict[str, Any]
STATUSES = ("ready", "failed", "unchanged", "queued")


def outcomes(taken: Sequence[Taken], expected: dict[Path, manifest.Entry]) -> list[Outcome]:
    """Return what became of each file; and of each that is expected, but was not there."""
    entries = {path.resolve(): entry for path, entry in expected.items()}
    found = [outcome(each, entries.get(Path(each.path).resolve())) for each in taken]
    missing = set(entries) - {Path(each.path).resolve() for each in taken}
    return found + [_missing(path) for path in sorted(missing)]


def outcome(taken: Taken, entry: manifest.Entry | None = None) -> Outcome:
    """Return what became of a file, as far as it has come."""
    result = _blank(taken.path)
    text = None
    if taken.error is not None:
        result["error"] = {"code": taken.error.code, "message": taken.error.message}
    elif taken.upload is not None:
        version = DocumentVersion.objects.filter(pk=taken.upload.version.pk).first()
        if version is not None:
            text = version.text
            result |= _of_version(version, unchanged=taken.upload.unchanged)
        elif Document.objects.filter(pk=taken.upload.document.pk).exists():
            # What was fetched is what the document has: the version was deleted again.
            result["status"] = "unchanged"
        else:
            result["error"] = {"code": "deleted", "message": "The document was deleted meanwhile."}
    if entry is not None:
        code = result["error"] and result["error"]["code"]
        result["as_expected"] = result["status"] != "queued" and manifest.as_expected(
            entry, text, code, result["pages"]
        )
    return result


def _blank(path: str) -> Outcome:
    return {
        "path": path, "status": "failed", "error": None,
        "pages": None, "chunks": 0, "seconds": 0.0, "as_expected": None,
    }  # fmt: skip


def _of_version(version: DocumentVersion, *, unchanged: bool) -> Outcome:
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


def _missing(path: Path) -> Outcome:
    error = {"code": "missing", "message": "The manifest names this file, but it is not there."}
    return _blank(str(path)) | {"error": error, "as_expected": False}


def summary(files: Sequence[Outcome], seconds: float) -> dict[str, Any]:
    """Return how many files ended in each way."""
    counts = Counter(file["status"] for file in files)
    return {name: counts[name] for name in STATUSES} | {"seconds": round(seconds, 2)}


def failure(files: Sequence[Outcome], *, checked: bool) -> str:
    """Return in a sentence what is wrong, nothing if nothing is."""
    if checked:
        wrong = sum(not file["as_expected"] for file in files)
        return f"{wrong} of {len(files)} files did not end as expected." if wrong else ""
    failed = sum(file["status"] == "failed" for file in files)
    return f"{failed} of {len(files)} files failed." if failed else ""


def line(file: Outcome) -> str:
    """Return what became of a file in a line for people."""
    mark = {True: "as expected: ", False: "NOT AS EXPECTED: ", None: ""}[file["as_expected"]]
    if file["error"]:
        return f"{mark}{file['path']}: failed ({file['error']['code']}): {file['error']['message']}"
    pages = f"{file['pages']} pages, " if file["pages"] else ""
    detail = f", {pages}{file['chunks']} chunks, {file['seconds']:.1f} s"
    return f"{mark}{file['path']}: {file['status']}{detail if file['status'] == 'ready' else ''}"
