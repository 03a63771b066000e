"""Chunks that whoever adds a document has made of it: kept as they were given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.ingestion import chunking
from retrieval.ingestion.chunking import CONTEXT_TOKENS, TINY_TOKENS, Passage
from retrieval.ingestion.incoming import UploadError
from retrieval.ingestion.plain_text import clean

if TYPE_CHECKING:
    from retrieval.ingestion.reading import Extracted

# What stands between two of them in the document's text.
GAP = "\n\n"
MOST_CHUNKS = 100_000


def joined(chunks: Sequence[str]) -> tuple[bytes, list[int]]:
    """Return the file that chunks make, in UTF-8, and where each begins in its text.

    Raises UploadError if there are none, one says nothing, or they are too many.
    """
    if not 0 < len(chunks) <= MOST_CHUNKS:
        raise UploadError("empty", f"A document has 1 to {MOST_CHUNKS:,} chunks.")
    texts = [clean(chunk).strip() for chunk in chunks]
    if "" in texts:
        raise UploadError("empty", f"Chunk {texts.index('') + 1} is empty.")
    starts = [0]
    for text in texts[:-1]:
        starts.append(starts[-1] + len(text) + len(GAP))
    return GAP.join(texts).encode(), starts


def as_it_stands(extracted: Extracted, path: Path) -> Extracted:
    """Return what was read of the file of given chunks with its text as they have it."""
    text = path.read_bytes().decode()
    return {**extracted, "text": text, "page_starts": [], "media_type": "text/plain"}


def passages(
    text: str, starts: Sequence[int], *, count_tokens: Callable[[str], int], window: int
) -> Iterator[Passage]:
    """Yield each chunk as a passage; what the embedding model cannot read at once, in parts."""
    most = max(TINY_TOKENS, window - CONTEXT_TOKENS)
    for start, following in pairwise([*starts, len(text) + len(GAP)]):
        end = following - len(GAP)
        chunk = text[start:end]
        if count_tokens(chunk) <= most:
            yield Passage(chunk, start, end, (), None, None)
            continue
        parts = chunking.passages(chunk, (), count_tokens=count_tokens, window=window)
        for part in parts:
            yield replace(part, start=start + part.start, end=start + part.end)
