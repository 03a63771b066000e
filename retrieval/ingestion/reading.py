"""Reading a file's bytes into text; runs in the child process only."""

from __future__ import annotations

import re
from typing import Any, TypedDict

import kreuzberg
from kreuzberg import (
    ConcurrencyConfig,
    ContentFilterConfig,
    ExtractionConfig,
    LanguageDetectionConfig,
    PageConfig,
)

from retrieval.ingestion import pdf, structure
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.media_types import MAIL_TYPE, OUTLOOK, detect
from retrieval.ingestion.plain_text import clean
from retrieval.ingestion.structure import Text

PDF = "application/pdf"
SLIDES = "presentation"
# Formats where a page can be cited: a Word file has pages only once it is printed.
PAGED = (PDF, SLIDES, "ms-powerpoint", "spreadsheet", "ms-excel")
WORDS = re.compile(r"\w")


class Extracted(TypedDict):
    """What a file says: `page_starts` are offsets in `text`, in code points."""

    text: str
    page_starts: list[int]
    media_type: str
    language: str
    title: str
    metadata: dict[str, Any]


def read(data: bytes, name: str, max_characters: int = 10**9) -> Extracted:
    """Return the text of a file. Raises ExtractionError."""
    media_type, text = detect(data, name)
    if media_type in {"text/plain", "text/markdown", "text/vtt"} and text is not None:
        extracted = _plain(text, media_type)
    else:
        extracted = _structured(data if text is None else text.encode(), media_type)
    if len(extracted["text"]) > max_characters:
        raise ExtractionError("too-large")
    return extracted


def _plain(text: str, media_type: str) -> Extracted:
    text = clean(text).strip()
    if not text:
        raise ExtractionError("empty")
    sample = text[:20000].encode()
    detected = kreuzberg.extract_bytes_sync(sample, "text/plain", _config()).detected_languages
    title = ""
    if media_type == "text/markdown" and (heading := re.search(r"^# +(.+)$", text, re.MULTILINE)):
        title = heading[1].strip()
    return Extracted(
        text=text, page_starts=[], media_type=media_type, title=title[:500], metadata={},
        language=(detected or [""])[0],
    )  # fmt: skip


def _structured(data: bytes, media_type: str) -> Extracted:
    try:
        result = kreuzberg.extract_bytes_sync(data, media_type, _config())
    except (kreuzberg.KreuzbergError, RuntimeError, ValueError) as error:
        raise _explain(error) from error
    nodes = result.document["nodes"] if result.document else []
    paged = any(word in media_type for word in PAGED)
    metadata: dict[str, Any] = dict(result.metadata or {})
    rendered = Text(paged)
    if media_type in {MAIL_TYPE, OUTLOOK}:
        rendered.add(_envelope(metadata), None)
    if media_type == PDF:
        pdf.render([page["content"] for page in result.pages or []], nodes, rendered)
    else:
        structure.render(nodes, rendered)
    text = str(rendered)
    count = int(metadata.get("page_count") or metadata.get("slide_count") or 0)
    _refuse_textless(text, media_type, count)
    rendered.page_starts += [rendered.length] * (count - len(rendered.page_starts) if paged else 0)
    title = " ".join(str(metadata.get("title") or metadata.get("subject") or "").split())
    return Extracted(
        text=text,
        page_starts=rendered.page_starts,
        media_type=media_type,
        language=(result.detected_languages or [""])[0],
        title=clean(title)[:500],
        metadata=_said(metadata),
    )


def _said(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return what the file says of itself, by the parser's names; a mail's sender is its author."""
    said = {
        name: metadata.get(name) for name in ("authors", "created_at", "modified_at", "keywords")
    }
    said["authors"] = said["authors"] or metadata.get("from_email")
    return {
        name: [clean(str(each))[:500] for each in value]
        if isinstance(value, list)
        else clean(str(value))[:500]
        for name, value in said.items()
        if value
    }


def _envelope(metadata: dict[str, Any]) -> str:
    """Return a mail's headers, and the names of what is attached to it."""
    lines = {
        "Subject": metadata.get("subject"),
        "From": metadata.get("from_email"),
        "To": ", ".join(metadata.get("to_emails") or []),
        "Cc": ", ".join(metadata.get("cc_emails") or []),
        "Date": metadata.get("created_at"),
        "Attachments": ", ".join(map(str, metadata.get("attachments") or [])),
    }
    return "\n".join(f"{name}: {value}" for name, value in lines.items() if value)


def _config() -> ExtractionConfig:
    return ExtractionConfig(
        use_cache=False,
        output_format="markdown",
        include_document_structure=True,
        pages=PageConfig(extract_pages=True),
        content_filter=ContentFilterConfig(strip_repeating_text=False, include_headers=True),
        concurrency=ConcurrencyConfig(max_threads=1),
        language_detection=LanguageDetectionConfig(enabled=True, min_confidence=0.5),
    )


def _refuse_textless(text: str, media_type: str, pages: int) -> None:
    # Scans, layer names and fonts without a character map leave some characters a page.
    letters = sum(len(WORDS.findall(line)) for line in set(text.splitlines()))
    if not letters:
        raise ExtractionError("no-text" if media_type == PDF else "empty")
    if media_type == PDF and letters < 3 * max(pages, 1):
        raise ExtractionError("no-text")


def _explain(error: Exception) -> ExtractionError:
    if isinstance(error, kreuzberg.ValidationError):
        return ExtractionError("unsupported")
    text = str(error).lower()
    if "password" in text or "encrypted" in text:
        return ExtractionError("encrypted")
    if "unsupported format" in text or "no extractor" in text:
        return ExtractionError("unsupported")
    return ExtractionError("corrupt")
