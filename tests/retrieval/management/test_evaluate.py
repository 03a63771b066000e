"""`manage.py evaluate`: what it prints, how it exits, and that it leaves nothing behind."""

import json
import os
import shutil
import signal
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from retrieval.backends.base import Passage, Query, Ranked
from retrieval.evaluation import evaluation, scratch
from retrieval.models import Collection, Document

pytestmark = pytest.mark.django_db(transaction=True)

SET = Path(__file__).parents[2] / "data" / "judged"


class OverlapReranker:
    """Judges a passage by the share of the question's terms in its text."""

    answer_threshold = 0.5

    async def rerank(self, query: Query, passages: Sequence[Passage], top_n: int) -> list[Ranked]:
        shares = [
            sum(term in passage.text.lower() for term in query.terms) / len(query.terms)
            for passage in passages
        ]
        order = sorted(range(len(shares)), key=lambda position: -shares[position])
        return [Ranked(position, shares[position]) for position in order[:top_n]]


@pytest.fixture(autouse=True)
def _surroundings(settings: Settings) -> None:
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder", "OPTIONS": {}},
        "reranker": {"BACKEND": f"{__name__}.OverlapReranker"},
    }


def evaluate(tmp_path: Path, *args: str | Path, **options: Any) -> list[dict[str, Any]]:
    """Run the command and return its JSON."""
    output = StringIO()
    options = {"json": True, "cache": tmp_path / "vectors", "stderr": StringIO()} | options
    call_command("evaluate", *map(str, args), stdout=output, **options)
    results: list[dict[str, Any]] = json.loads(output.getvalue())
    return results


def schemas() -> list[str]:
    """Return the schemas of evaluations that are in the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'evaluation%'")
        return [name for (name,) in cursor.fetchall()]


def test_every_stage_is_measured(tmp_path: Path) -> None:
    """Standard output is a list of sets, each with its stages in order."""
    (result,) = evaluate(tmp_path, SET)
    stages = result.pop("stages")
    assert result == {"dataset": "judged", "documents": 4, "queries": 3}
    assert [stage["stage"] for stage in stages] == ["vector", "fulltext", "hybrid", "reranked"]
    for stage in stages:
        assert list(stage) == [
            "stage", "ndcg@10", "recall@10", "recall@100", "mrr", "p50_ms", "p95_ms",
        ]  # fmt: skip
        assert stage["mrr"] == stage["recall@10"] == 1.0
        assert 0 < stage["p50_ms"] <= stage["p95_ms"]


def test_chosen_stages_come_in_their_order(tmp_path: Path) -> None:
    """Stages are those asked for, and unknown ones are refused."""
    (result,) = evaluate(tmp_path, SET, "--stages", "hybrid,vector")
    assert [stage["stage"] for stage in result["stages"]] == ["vector", "hybrid"]
    with pytest.raises(CommandError, match="stages are vector, fulltext, hybrid, reranked"):
        evaluate(tmp_path, SET, "--stages", "magic")


def test_table_is_for_reading(tmp_path: Path) -> None:
    """Without --json the measures are a table."""
    output = StringIO()
    call_command(
        "evaluate", str(SET), "--stages", "fulltext", cache=tmp_path / "vectors", stdout=output,
        stderr=StringIO(),
    )  # fmt: skip
    lines = output.getvalue().splitlines()
    assert lines[0] == "judged: 4 documents, 3 questions"
    assert lines[2].split()[:5] == ["fulltext", "1.000", "1.000", "1.000", "1.000"]


def test_questions_without_an_answer_are_told_apart(tmp_path: Path) -> None:
    """The set's own unanswerable questions count, and all questions of the other set."""
    other = shutil.copytree(SET, tmp_path / "other")
    lines = [
        json.dumps({"_id": f"q{number}", "text": text})
        for number, text in enumerate(["Which river crosses Vienna?", "When did Mozart die?"], 1)
    ]
    (other / "queries.jsonl").write_text("\n".join(lines))
    (other / "qrels.tsv").write_text("q1\tvalve\t1\n")
    (result,) = evaluate(tmp_path, SET, "--stages", "vector", no_answer=[other])
    unanswerable, others = result["no_answer"]
    assert (unanswerable["questions"], unanswerable["count"]) == ("unanswerable", 1)
    assert (others["questions"], others["count"]) == ("other", 2)
    assert unanswerable["auroc"] == others["auroc"] == 1.0
    assert others["refused"] == others["answered"] == 1.0


def test_nothing_of_the_site_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile others find the site's own documents only, and afterwards nothing is left."""
    collection = Collection.objects.create(name="Site")
    Document.objects.create(collection=collection, name="a.txt", title="A")
    seen: list[Any] = []

    def look(*_: object) -> dict[str, Any]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM public.retrieval_document")
            seen.extend((*cursor.fetchone(), Document.objects.count(), len(schemas())))
        return {"stage": "vector"}

    monkeypatch.setattr(evaluation, "_measure", look)
    evaluate(tmp_path, SET, "--stages", "vector")
    assert seen == [1, 4, 1]
    assert Document.objects.count() == 1
    assert schemas() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Ctrl-C, and being told to end, remove what was loaded."""
    monkeypatch.setattr(evaluation, "_measure", lambda *_: os.kill(os.getpid(), number))
    with pytest.raises(CommandError, match="Stopped"):
        evaluate(tmp_path, SET)
    assert schemas() == []


def test_what_a_killed_process_left_is_removed() -> None:
    """Tables that nobody holds go when the next evaluation begins; those in use stay."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA evaluation_left")
    with scratch.scratch_tables():
        (first,) = schemas()
        with scratch.scratch_tables():
            assert first in schemas()
            assert len(schemas()) == 2
    assert schemas() == []


def test_broken_set_is_refused(tmp_path: Path) -> None:
    """The file and the line are named, and nothing is printed as a result."""
    folder = shutil.copytree(SET, tmp_path / "broken")
    (folder / "queries.jsonl").write_text("{")
    with pytest.raises(CommandError, match=r"queries\.jsonl, line 1: this is not JSON"):
        evaluate(tmp_path, folder)


def test_set_without_judgements_is_refused(tmp_path: Path) -> None:
    """There would be nothing to measure."""
    folder = shutil.copytree(SET, tmp_path / "empty")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n")
    with pytest.raises(CommandError, match="empty: no question has a relevant document"):
        evaluate(tmp_path, folder)
