"""A site of its own that takes documents in, with a worker as people run it; prints JSON.

    python -m benchmarks.ingest_site FOLDER [--model]

FOLDER holds the text files, and what the site writes; `--model` also measures how fast the
embedding model embeds the same passages by itself. `benchmarks.ingest` sets the environment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django

from benchmarks import servers
from ragsite import postgres

POLL_SECONDS = 0.1
# Passages that ingestion hands to the model at a time.
BATCH = 32


def main() -> None:
    """Take the files in, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", action="store_true")
    options = parser.parse_args()
    postgres.ensure()
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415 - needs Django to be set up

    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    with worker(options.folder / "worker.log"):
        seconds = take_in(sorted(options.folder.glob("*.txt")))
    result = {"seconds": seconds, **counts()}
    if options.model:
        result["model_chunks_per_s"] = asyncio.run(model_rate())
    print(json.dumps(result))


@contextmanager
def worker(log: Path) -> Iterator[None]:
    """Run a worker that waits for documents."""
    from retrieval.ingestion.worker import is_running  # noqa: PLC0415

    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "worker"],
            cwd=servers.ROOT, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        limit = time.monotonic() + servers.START_SECONDS
        while not is_running():
            if process.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"The worker does not run: {log.read_text()[-2000:]}")
            time.sleep(POLL_SECONDS)
        yield
    finally:
        process.terminate()
        process.wait(servers.STOP_SECONDS)


def take_in(files: list[Path]) -> float:
    """Add all files, and return the seconds until each can be searched."""
    from django.core.files import File  # noqa: PLC0415

    from retrieval.ingestion.uploads import add_document  # noqa: PLC0415
    from retrieval.models import Collection, DocumentVersion, Stage  # noqa: PLC0415

    collection = Collection.objects.create(name="Benchmark")
    began = time.monotonic()
    for path in files:
        with path.open("rb") as stream:
            add_document(collection, path.name, File(stream))
    while waiting := DocumentVersion.objects.exclude(stage=Stage.READY):
        if failed := waiting.filter(stage=Stage.FAILED).first():
            raise RuntimeError(f"{failed} failed: {failed.error_message}")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - began


def counts() -> dict[str, Any]:
    """Return how many documents and chunks there are, and the characters of both."""
    from django.db.models import Count, Sum  # noqa: PLC0415
    from django.db.models.functions import Length  # noqa: PLC0415

    from retrieval.models import Chunk, DocumentVersion  # noqa: PLC0415

    texts = DocumentVersion.objects.aggregate(documents=Count("pk"), characters=Sum(Length("text")))
    chunks = Chunk.objects.aggregate(chunks=Count("pk"), chunk_characters=Sum(Length("text")))
    return texts | chunks


async def model_rate() -> float:
    """Return the chunks a second that the model embeds when it does nothing else."""
    from retrieval import backends  # noqa: PLC0415
    from retrieval.database import in_thread  # noqa: PLC0415
    from retrieval.ingestion.chunking import embedded_text  # noqa: PLC0415
    from retrieval.models import Chunk  # noqa: PLC0415

    def read() -> list[str]:
        chunks = Chunk.objects.select_related("version__document").order_by("version", "ordinal")
        return [
            embedded_text(
                chunk.version.title or chunk.version.document.title, chunk.heading_path, chunk.text
            )
            for chunk in chunks
        ]

    texts = await in_thread(read)
    embedder = backends.embedder()
    embedder.prepare()
    began = time.monotonic()
    for start in range(0, len(texts), BATCH):
        await embedder.embed_passages(texts[start : start + BATCH])
    return len(texts) / (time.monotonic() - began)


if __name__ == "__main__":
    main()
