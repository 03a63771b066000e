"""What a manifest of test files expects, and whether ingestion did it."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def load(path: Path) -> dict[Path, Entry]:
    """Return a manifest's entries by their files' paths, which are relative to the manifest.

    Raises ValueError if it is not a manifest.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["files"]
        return {path.parent / entry["path"]: entry for entry in entries}
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a manifest: {error}") from error


def as_expected(entry: Entry, text: str | None, error: str | None, pages: int | None) -> bool:
    """Whether a file ended as its entry says: with this text and these pages, or this error.

    Where pictures are read, there may be text that is expected of OCR instead of an error.
    """
    accepted = [entry["expect"], *([entry["or_expect"]] if "or_expect" in entry else [])]
    if error is not None:
        codes = {code for expect in accepted for code in _codes(expect)}
        return error in codes | set(entry.get("errors_accepted", []))
    # A page count is expected of formats that have pages.
    if "pages" in entry and pages is not None and pages != entry["pages"]:
        return False
    if "ocr_contains" in entry:
        accepted.append({"contains": entry["ocr_contains"]})
    return any(_holds(expect, text or "") for expect in accepted)


def _codes(expect: dict[str, Any]) -> list[str]:
    return [expect["error"], *expect.get("errors_accepted", [])] if "error" in expect else []


def _holds(expect: dict[str, Any], text: str) -> bool:
    if "error" in expect:
        return False
    found = normalise(text)
    return all(normalise(part) in found for part in expect.get("contains", [])) and not any(
        normalise(part) in found for part in expect.get("absent", [])
    )


def normalise(text: str) -> str:
    """Return text as manifests compare it: NFKC, nothing invisible, single spaces."""
    folded = unicodedata.normalize("NFKC", text)
    return " ".join("".join(c for c in folded if unicodedata.category(c) != "Cf").split())
