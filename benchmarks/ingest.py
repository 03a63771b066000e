"""Ingestion beside the embedding model's own rate, and beside the baseline; prints a table.

    python -m benchmarks.ingest [--quick] [--json FILE]

docs/benchmarks.md says what it needs. Everything goes into a temporary folder.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from benchmarks import servers, windows
from ragsite import postgres

DEFAULT_TOOLS = servers.ROOT.parent / "shared" / "tools"
DOCUMENTS, WORDS = 500, 1000
# Real texts for the real model, abstracts and whole papers: a minute and more of its time each.
REAL_SETS = {"scifact": 500, "covidqa-long-a": 30}
BASELINE = "baseline"


def main() -> None:
    """Measure, and print the table."""
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("Stopped."))
    if not (options.tools / "bench_ingest.py").exists():
        sys.exit(f"There are no benchmark tools in {options.tools}. Name their folder: --tools")
    sys.path.append(str(options.tools))
    state = Path(tempfile.mkdtemp(prefix="benchmark-"))
    state.chmod(0o755)  # the embedded PostgreSQL never runs as root
    load = os.getloadavg()[0]
    try:
        results = {
            name: with_model(options, state / name, name, count)
            for name, count in REAL_SETS.items()
        }
        results |= with_provider(options, state)
    finally:
        shutil.rmtree(state, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(results | {"load": load}, indent=1))
    print(table(results))
    print(f"\n{os.cpu_count()} cores; load average before: {load:.1f}.")


def arguments() -> argparse.Namespace:
    """Return how much to measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, default=DEFAULT_TOOLS, help="folder of the tools")
    parser.add_argument("--sets", type=Path, default=windows.DEFAULT_SETS, help="the judged sets")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--quick", action="store_true", help="only to see that it runs")
    parser.add_argument("--json", type=Path, help="write all that was measured there")
    options = parser.parse_args()
    options.documents = 20 if options.quick else options.documents
    return options


def with_model(options: argparse.Namespace, folder: Path, name: str, count: int) -> dict[str, Any]:
    """Take real texts in with the bundled model, and let the model embed them by itself."""
    count = min(count, 20) if options.quick else count
    texts = list(islice(windows.corpus(options.sets / name), count))
    (folder / "models").parent.mkdir(parents=True)
    servers.link_models(folder)
    return site(folder, texts, "--model", EMBEDDER="onnx")


def with_provider(options: argparse.Namespace, state: Path) -> dict[str, Any]:
    """Take the same documents into the product and into the baseline, with fake embeddings."""
    corpus = importlib.import_module("common").Corpus()
    texts = [corpus.text(number, WORDS) for number in range(options.documents)]
    port = servers.free_port()
    with servers.provider(options.tools, state, port) as provider:
        control = importlib.import_module("common").Provider(provider.http)
        folder = state / "product"
        folder.mkdir()
        product = site(folder, texts, **servers.product_environment(folder, f"{provider.http}/v1"))
        product["embedded"] = control.stats()["counters"]
        database = baseline_database(folder)
        try:
            with servers.baseline(options.tools, state, f"{provider.http}/v1", database) as server:
                baseline = load_baseline(options, server, provider)
        finally:
            postgres.release(folder.resolve())
    return {"product": product, "baseline": baseline}


def site(folder: Path, texts: list[str], *arguments: str, **environment: str) -> dict[str, Any]:
    """Take texts in with a site of its own. Raises CalledProcessError."""
    for number, text in enumerate(texts):
        (folder / f"document-{number:04d}.txt").write_text(text, encoding="utf-8")
    folder.chmod(0o755)
    own = {
        "DJANGO_SETTINGS_MODULE": "ragsite.settings",
        "RAGSITE_STATE": str(folder),
        "DATABASE_URL": "",
        "LOG_LEVEL": "WARNING",
    }
    say(f"{len(texts)} documents, {folder.name}")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.ingest_site", str(folder), *arguments],
        cwd=servers.ROOT, env=os.environ | own | environment, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def baseline_database(folder: Path) -> str:
    """Make a database for the baseline in the product's server; return its URI."""
    postgres.use(folder.resolve())
    own = postgres.database(folder.resolve())
    parameters = {
        "host": own["HOST"], "port": own["PORT"], "user": own["USER"], "password": own["PASSWORD"],
    }  # fmt: skip
    with psycopg.connect(**parameters, dbname=own["NAME"], autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(BASELINE)))
    return psycopg.conninfo.make_conninfo(**parameters, dbname=BASELINE)


def load_baseline(
    options: argparse.Namespace, server: servers.Server, provider: servers.Server
) -> dict[str, Any]:
    """Let the shared tool take the same documents into the baseline."""
    say("baseline")
    with tempfile.NamedTemporaryFile("r") as out:
        command = [
            *(sys.executable, options.tools / "bench_ingest.py", "--system", "json"),
            *("--url", server.http, "--provider", provider.http, "--pid", str(server.pid)),
            *("--n", str(options.documents), "--words", str(WORDS), "--out", out.name),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        measured: dict[str, Any] = json.loads(out.read())
        return measured


def table(results: dict[str, Any]) -> str:
    """Return a Markdown table beside the goals."""
    product, baseline = results["product"], results["baseline"]
    documents = product["documents"] / product["seconds"]
    again = product["chunk_characters"] / product["characters"]
    twice = product["embedded"]["embed_inputs"] / product["chunks"]
    rows = [row for name in REAL_SETS for row in beside_model(name, results[name])]
    rows += [
        ("Documents/s of 1,000 words, product", f"{documents:.1f}", "–"),
        ("… baseline", f"{baseline['docs_per_s']:.1f}", "–"),
        ("… product over baseline", f"{documents / baseline['docs_per_s']:.2f}", "≥ 0.5"),
        ("Times a character is embedded, product", f"{again * twice:.3f}", "≤ 1.15"),
        ("… baseline", f"{baseline['embedded_chars_per_source_char']:.2f}", "–"),
    ]
    lines = [f"| {name} | {value} | {goal} |" for name, value, goal in rows]
    return "\n".join(["| | | goal |", "|---|---|---|", *lines])


def beside_model(name: str, result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the table's rows for real texts."""
    rate, own = result["chunks"] / result["seconds"], result["model_chunks_per_s"]
    each = result["chunks"] / result["documents"]
    return [
        (f"Chunks/s with the bundled model, {name} ({each:.1f} a document)", f"{rate:.1f}", "–"),
        ("… the model by itself", f"{own:.1f}", "–"),
        ("… share of it", f"{rate / own:.2f}", "≥ 0.85"),
    ]


def say(text: str) -> None:
    """Tell how far it is, apart from the table."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
