"""Short passages cut out of the shared corpora, with real embeddings that are made once.

    python -m benchmarks.windows [--count 100000]

makes the embeddings ahead; a search benchmark makes those that are missing itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import servers

if TYPE_CHECKING:
    from retrieval.backends.base import Vectors

DEFAULT_SETS = servers.ROOT.parent / "shared" / "eval" / "retrieval"
# Sets whose documents are no other set's as well.
SETS = (
    "scifact",
    "qmsum-long-a",
    "covidqa-long-a",
    "xquad-mixed-5lang",
    "hotpotqa-100",
    "squad2-unanswerable",
)
CHARACTERS = 150
# From the beginning of a window to that of the next one.
STRIDE = 100
EMBEDDED_AT_ONCE = 2560


def windows(sets: Path, count: int) -> list[str]:
    """Return `count` different passages in an order that mixes the sets; the first are a sample.

    Exits if the sets do not have as many.
    """
    found: dict[str, None] = {}
    for name in SETS:
        for text in corpus(sets / name):
            found.update(dict.fromkeys(cut(text)))
    if len(found) < count:
        sys.exit(f"The sets in {sets} have {len(found):,} passages only.")
    mixed = list(found)
    random.Random(4).shuffle(mixed)
    return mixed[:count]


def cut(text: str) -> Iterator[str]:
    """Yield passages of about CHARACTERS, from the beginning of a word to the end of one."""
    start = 0
    while start < len(text):
        end = start + CHARACTERS
        if end < len(text) and (space := text.rfind(" ", start + STRIDE, end)) > 0:
            end = space
        if len(passage := text[start:end].strip()) >= CHARACTERS // 3:
            yield passage
        start += STRIDE
        if (space := text.find(" ", start, start + 30)) > 0:
            start = space + 1


def corpus(folder: Path) -> Iterator[str]:
    """Yield the texts of a set's documents."""
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def questions(sets: Path) -> list[str]:
    """Return the questions of the sets, mixed."""
    found: dict[str, None] = {}
    for name in SETS:
        with (sets / name / "queries.jsonl").open(encoding="utf-8") as lines:
            found.update((json.loads(line)["text"], None) for line in lines)
    mixed = list(found)
    random.Random(4).shuffle(mixed)
    return mixed


async def embedded(texts: list[str]) -> Vectors:
    """Return the passages' vectors, shape (count, dimensions), by way of the cache."""
    import numpy as np  # noqa: PLC0415 - after Django is set up

    from retrieval import backends  # noqa: PLC0415

    parts = []
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        parts.append(
            await backends.embedder().embed_passages(texts[start : start + EMBEDDED_AT_ONCE])
        )
        print(f"\r{start + len(parts[-1]):,} of {len(texts):,} passages embedded",
              end="", file=sys.stderr, flush=True)  # fmt: skip
    print(file=sys.stderr)
    return np.concatenate(parts)


def cache_path(named: Path | None) -> Path:
    """Return the file of the embeddings: the one of `manage.py evaluate` in the checkout."""
    return named or servers.ROOT / "var" / "evaluation" / "embeddings.sqlite3"


def main() -> None:
    """Make the embeddings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--sets", type=Path, default=DEFAULT_SETS, help="folder of the sets")
    parser.add_argument("--cache", type=Path, help="file of the embeddings")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")
    import django  # noqa: PLC0415

    django.setup()
    from retrieval.evaluation.cache import cached_embeddings  # noqa: PLC0415

    texts = windows(options.sets, options.count)
    with cached_embeddings(cache_path(options.cache)):
        asyncio.run(embedded(texts))


if __name__ == "__main__":
    main()
