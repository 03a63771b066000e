"""`manage.py evaluate`: measure the search on judged sets."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from retrieval.backends.base import BackendError
from retrieval.evaluation import cache, datasets
from retrieval.evaluation.datasets import Dataset, DatasetError
from retrieval.evaluation.evaluation import evaluate, sample
from retrieval.evaluation.stages import STAGES, StageName
from retrieval.management.ready import ReadyCommand

COLUMNS = ("ndcg@10", "recall@10", "recall@100", "mrr", "p50_ms", "p95_ms")


class Command(ReadyCommand):
    help = "Ask the questions of judged sets and measure what each stage of the search finds."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("sets", nargs="+", metavar="DIR", type=Path, help="A set's folder.")
        parser.add_argument(
            "--stages",
            type=_stages,
            default=STAGES,
            help=f"Which, by commas; otherwise {','.join(STAGES)}.",
        )
        parser.add_argument(
            "--no-answer",
            nargs="*",
            metavar="DIR",
            type=Path,
            help="Also tell how well questions without an answer are known: those that a set says "
            "its documents do not answer, and all questions of these other sets.",
        )
        parser.add_argument(
            "--sample", type=_count, help="Ask only about so many questions of each set."
        )
        parser.add_argument(
            "--cache", type=Path, help="The file that keeps embeddings between runs."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            sets = [datasets.load(folder) for folder in options["sets"]]
            others = [datasets.load(folder) for folder in options["no_answer"] or ()]
        except DatasetError as error:
            raise CommandError(str(error)) from error
        if options["sample"]:
            sets = [sample(dataset, options["sample"]) for dataset in sets]
            others = [sample(dataset, options["sample"]) for dataset in others]
        _check(sets)
        no_answer = others if options["no_answer"] is not None else None
        results = []
        try:
            with (
                _ending_like_an_interrupt(),
                cache.cached_embeddings(options["cache"] or cache.default_path()),
            ):
                for dataset in sets:
                    result = evaluate(dataset, options["stages"], self.show_progress, no_answer)
                    results.append(result)
                    if not self.json:
                        self.stdout.write(_table(result))
        except BackendError as error:
            raise CommandError(error.message) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped; what was loaded is removed.") from None
        if self.json:
            self.emit(results)

    def show_progress(self, text: str) -> None:
        """Say how far it is, apart from the results."""
        self.stderr.write(text, style_func=str)
        self.stderr.flush()


def _stages(names: str) -> list[StageName]:
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    if not chosen or not set(chosen) <= set(STAGES):
        raise ArgumentTypeError(f"stages are {', '.join(STAGES)}, by commas")
    return [stage for stage in STAGES if stage in chosen]


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise ArgumentTypeError("a number of questions, 1 or more")
    return int(text)


def _check(sets: list[Dataset]) -> None:
    """Raise CommandError if nothing could be measured with one of the sets."""
    for dataset in sets:
        if not dataset.judged:
            raise CommandError(f"{dataset.name}: no question has a relevant document.")


@contextmanager
def _ending_like_an_interrupt() -> Iterator[None]:
    """Let a process that is told to end remove what it has loaded."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _table(result: dict[str, Any]) -> str:
    """Return the measures of a set for reading."""
    lines = [f"{result['dataset']}: {result['documents']} documents, {result['queries']} questions"]
    lines.append(f"{'':<12}" + "".join(f"{column:>12}" for column in COLUMNS))
    for stage in result["stages"]:
        cells = (f"{stage[column]:>12.{1 if column.endswith('ms') else 3}f}" for column in COLUMNS)
        lines.append(f"{stage['stage']:<12}" + "".join(cells))
    lines += [
        f"no answer: {other['count']} questions of {other['questions']}:"
        f" AUROC {other['auroc']:.3f},"
        f" {other['refused']:.1%} refused, {other['answered']:.1%} of its own answered"
        for other in result.get("no_answer", ())
    ]
    return "\n".join([*lines, ""])
