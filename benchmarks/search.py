"""Search beside the raw SQL floor, among 10,000 and 100,000 passages; prints a Markdown table.

    python -m benchmarks.search [--quick] [--sizes 10000,100000] [--json FILE]

docs/benchmarks.md says what it needs. Everything but the embeddings goes into a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
import psutil

from benchmarks import search_report, servers, windows
from chat.management import garbage
from ragsite import postgres

if TYPE_CHECKING:
    import numpy as np

    from benchmarks.search_floor import Floor
    from benchmarks.search_product import Product
    from benchmarks.search_questions import Question

QUESTIONS = 200
PEOPLE = 32
# The filter keeps one of so many parts.
SHARDS = 100


def main() -> None:
    """Measure every size, and print the table."""
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("Stopped."))
    if not options.sets.is_dir():
        sys.exit(f"There are no judged sets in {options.sets}. Name their folder: --sets")
    state = Path(tempfile.mkdtemp(prefix="benchmark-"))
    state.chmod(0o755)  # the embedded PostgreSQL never runs as root
    prepare(state)
    try:
        results = measure_all(options)
    finally:
        postgres.release(state.resolve())
        shutil.rmtree(state, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    print(search_report.table(results))
    print(f"\n{os.cpu_count()} cores; load average before: {results[0]['load']:.1f}.")


def arguments() -> argparse.Namespace:
    """Return what to measure, and how much of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=Path, default=windows.DEFAULT_SETS, help="the judged sets")
    parser.add_argument("--sizes", default="10000,100000", help="passages, by commas")
    parser.add_argument("--cache", type=Path, help="file of the embeddings")
    parser.add_argument("--quick", action="store_true", help="only to see that it runs")
    parser.add_argument("--json", type=Path, help="write all that was measured there")
    options = parser.parse_args()
    options.sizes = [1000] if options.quick else [int(size) for size in options.sizes.split(",")]
    return options


def prepare(state: Path) -> None:
    """Start a PostgreSQL of the benchmark's own; the model is the checkout's."""
    servers.link_models(state)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "ragsite.settings",
        "RAGSITE_STATE": str(state),
        "DATABASE_URL": "",
        "LOG_LEVEL": "WARNING",
    }
    postgres.use(state.resolve())
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415

    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)


def measure_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what was measured of each size."""
    from django.conf import settings  # noqa: PLC0415 - all of these need Django to be set up
    from django.test.utils import override_settings  # noqa: PLC0415

    from benchmarks import search_questions  # noqa: PLC0415
    from benchmarks.search_product import remember  # noqa: PLC0415
    from retrieval import backends  # noqa: PLC0415
    from retrieval.evaluation.cache import cached_embeddings  # noqa: PLC0415

    passages = windows.windows(options.sets, max(options.sizes))
    asked = windows.questions(options.sets)
    results = []
    with cached_embeddings(windows.cache_path(options.cache)):
        vectors = asyncio.run(windows.embedded(passages))
        for size in options.sizes:
            load = psutil.getloadavg()[0]
            rare, common = search_questions.texts(passages[:size], asked, QUESTIONS)
            embed = backends.embedder().embed_query
            known = [asyncio.run(gathered(embed, texts)) for texts in (rare, common)]
            shards = [number % SHARDS for number in range(size)]
            kinds = [
                search_questions.questions(texts, each, vectors[:size], shards)
                for texts, each in zip((rare, common), known, strict=True)
            ]
            entry = remember(rare + common, [vector for each in known for vector in each])
            with override_settings(RAG_BACKENDS=settings.RAG_BACKENDS | {"embedder": entry}):
                result = measure(passages[:size], vectors[:size], shards, *kinds)
            results.append(result | {"size": size, "load": load})
    return results


async def gathered(embed: Any, texts: list[str]) -> Any:
    """Return the vectors of the texts, one after the other."""
    import numpy as np  # noqa: PLC0415

    return np.array([await embed(text) for text in texts])


def measure(
    passages: list[str],
    vectors: np.ndarray[Any, Any],
    shards: list[int],
    rare: list[Question],
    common: list[Question],
) -> dict[str, Any]:
    """Fill both, and ask the floor and the product the same questions."""
    from benchmarks import search_floor, search_product  # noqa: PLC0415

    began = time.monotonic()
    floor = search_floor.load(passages, vectors, shards, rare)
    say(f"{len(passages):,} passages in the floor, {time.monotonic() - began:.0f} s")
    began = time.monotonic()
    product = search_product.load(passages, vectors, shards)
    say(f"{len(passages):,} passages in the product, {time.monotonic() - began:.0f} s")
    result = {
        "floor": measure_floor(floor, rare, common),
        "product": asyncio.run(measure_product(product, rare, common)),
    }
    result["product"]["memory"] |= search_product.memory()
    return result


def measure_floor(floor: Floor, rare: list[Question], common: list[Question]) -> dict[str, Any]:
    """Return the floor's times."""
    say("floor")
    return {
        "ef_search": floor.ef_search,
        "recall": round(floor.recall, 4),
        "rare": floor.one_at_a_time(rare, filtered=False).summary(),
        "common": floor.one_at_a_time(common, filtered=False).summary(),
        "filtered": floor.one_at_a_time(rare, filtered=True).summary(),
        "at_once": floor.at_once(rare, PEOPLE, 5).summary(),
        "at_once_common": floor.at_once(common, PEOPLE, 1).summary(),
    }


async def measure_product(
    product: Product, rare: list[Question], common: list[Question]
) -> dict[str, Any]:
    """Return the product's times, and how much of what is nearest it finds."""
    from benchmarks.search_questions import recall  # noqa: PLC0415

    say("product")
    garbage.freeze()  # as the web process does
    before = psutil.Process().memory_info().rss
    result: dict[str, Any] = {
        "rare": (await product.one_at_a_time(rare, filtered=False)).summary(),
        "common": (await product.one_at_a_time(common, filtered=False)).summary(),
        "filtered": (await product.one_at_a_time(rare, filtered=True)).summary(),
        "at_once": (await product.at_once(rare, PEOPLE, 5)).summary(),
        "at_once_common": (await product.at_once(common, PEOPLE, 1)).summary(),
    }
    grown = (psutil.Process().memory_info().rss - before) / 2**20
    found = await product.nearest(rare, filtered=False)
    inside = await product.nearest(rare, filtered=True)
    return result | {
        "recall": round(recall(found, [question.nearest for question in rare]), 4),
        "recall_filtered": round(
            recall(inside, [question.nearest_in_shard for question in rare]), 4
        ),
        "memory": {"grown": round(grown)},
    }


def say(text: str) -> None:
    """Tell how far it is, apart from the table."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
