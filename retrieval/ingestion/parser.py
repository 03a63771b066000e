"""The parser of all formats that have no reader of their own: kreuzberg, configured."""

from __future__ import annotations

import re
from typing import Any

import kreuzberg
from kreuzberg import (
    ConcurrencyConfig,
    ContentFilterConfig,
    ExtractionConfig,
    ExtractionResult,
    LanguageDetectionConfig,
    PageConfig,
)

from retrieval.ingestion import structure
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.structure import Text

# Characters looked at to say what language a text is in.
SAMPLE = 20_000
SHEETS = ("spreadsheetml", "ms-excel")
# A day, or a time of day, as the parser gives each of them: with the other half empty.
MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00")
TIME_OF_DAY = re.compile(r"1899-12-3[01][ T](\d\d:\d\d:\d\d)")


def read(data: bytes, media_type: str, text: Text) -> dict[str, Any]:
    """Add what kreuzberg finds to `text`, and return what the file says of itself.

    Raises ExtractionError.
    """
    result = parse(data, media_type)
    nodes = result.document["nodes"] if result.document else []
    metadata: dict[str, Any] = dict(result.metadata or {})
    if any(word in media_type for word in SHEETS):
        _sheets(nodes, metadata.get("sheet_names") or [], text)
    else:
        structure.render(nodes, text)
        text.begin_page(int(metadata.get("slide_count") or 0))
    return metadata


def parse(data: bytes, media_type: str) -> ExtractionResult:
    """Return kreuzberg's result. Raises ExtractionError."""
    try:
        return kreuzberg.extract_bytes_sync(data, media_type, _config())
    except (kreuzberg.KreuzbergError, RuntimeError, ValueError) as error:
        raise explain(error) from error


def language(text: str) -> str:
    """Return the language of a text, ISO 639-3, or `""`."""
    config = ExtractionConfig(
        use_cache=False,
        language_detection=LanguageDetectionConfig(enabled=True, min_confidence=0.5),
    )
    sample = text[:SAMPLE].encode()
    result = kreuzberg.extract_bytes_sync(sample, "text/plain", config)
    return (result.detected_languages or [""])[0]


def _sheets(nodes: list[Any], names: list[str], text: Text) -> None:
    """Add a workbook's sheets, a page each, under their names."""
    number = 0
    for node in nodes:
        content = node["content"]
        if content["node_type"] == "heading":
            # A name may occur among the cells, but not as a heading.
            number = names.index(content["text"]) + 1 if content["text"] in names else number + 1
            text.begin_page(number)
            text.add(structure.heading(2, content["text"]), number)
        elif content["node_type"] == "table":
            for cell in content["grid"]["cells"]:
                cell["content"] = TIME_OF_DAY.sub(r"\1", MIDNIGHT.sub(r"\1", cell["content"]))
            text.add(structure.table(content["grid"]), number or 1)
    text.begin_page(len(names))


def _config() -> ExtractionConfig:
    return ExtractionConfig(
        use_cache=False,
        output_format="markdown",
        include_document_structure=True,
        pages=PageConfig(extract_pages=True),
        content_filter=ContentFilterConfig(strip_repeating_text=False, include_headers=True),
        concurrency=ConcurrencyConfig(max_threads=1),
    )


def explain(error: Exception) -> ExtractionError:
    """Return our error for one of kreuzberg's."""
    if isinstance(error, kreuzberg.ValidationError):
        return ExtractionError("unsupported")
    text = str(error).lower()
    if "password" in text or "encrypted" in text:
        return ExtractionError("encrypted")
    if "unsupported format" in text or "no extractor" in text:
        return ExtractionError("unsupported")
    return ExtractionError("corrupt")
