"""Reading judged sets, and saying what is wrong with broken ones."""

import shutil
from pathlib import Path

import pytest

from retrieval.evaluation.datasets import DatasetError, load

SET = Path(__file__).parents[2] / "data" / "judged"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the small set."""
    return shutil.copytree(SET, tmp_path / "judged")


def test_set_is_read(folder: Path) -> None:
    """A set has its documents, questions and judgements, and the name of its folder."""
    dataset = load(folder)
    assert dataset.name == "judged"
    assert [document.id for document in dataset.documents] == ["valve", "seal", "pump", "filter"]
    assert dataset.documents[0].title == "Valves"
    assert dataset.judgements == {"q1": {"valve": 1}, "q2": {"seal": 1}, "q3": {"pump": 1}}
    assert [query.id for query in dataset.judged] == ["q1", "q2", "q3"]
    assert [query.id for query in dataset.unanswerable] == ["q4"]


def test_judgements_may_lack_a_header(folder: Path) -> None:
    """The first line counts if it is a judgement."""
    (folder / "qrels.tsv").write_text("q1\tvalve\t1\n")
    assert load(folder).judgements == {"q1": {"valve": 1}}


def test_question_whose_documents_are_irrelevant_is_not_judged(folder: Path) -> None:
    """A judgement of 0 says that a document does not answer."""
    (folder / "qrels.tsv").write_text("q1\tvalve\t1\nq2\tvalve\t0\n")
    assert [query.id for query in load(folder).judged] == ["q1"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("corpus.jsonl", '{"_id": "a", "text": "b"}\n{"_id":', "line 2: this is not JSON"),
        ("corpus.jsonl", "[]", "line 1: this is not a JSON object"),
        ("corpus.jsonl", '{"_id": 1, "text": "b"}', "line 1: _id must be a text"),
        ("corpus.jsonl", '\n{"_id": "a"}', "line 2: text must be a text"),
        ("corpus.jsonl", '{"_id": "a", "text": "b"}\n' * 2, "line 2: the _id 'a' is there twice"),
        ("corpus.jsonl", "\n", "this file is empty"),
        (
            "queries.jsonl",
            '{"_id": "q1", "text": "b", "metadata": {"answerable": "no"}}',
            "line 1: metadata.answerable must be true or false",
        ),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq9\tvalve\t1", "line 2: there is no question"),
        ("qrels.tsv", "q1\tnone\t1", "line 1: there is no document 'none'"),
        ("qrels.tsv", "q1\tvalve\t1\nq1 valve 1", "line 2: this is not a question's id"),
    ],
)
def test_broken_line_is_named(folder: Path, name: str, text: str, said: str) -> None:
    """The message has the file, the line and what is wrong there."""
    (folder / name).write_text(text)
    with pytest.raises(DatasetError, match=name) as raised:
        load(folder)
    assert said in str(raised.value)


def test_missing_file_is_named(folder: Path) -> None:
    """A set without judgements is none."""
    (folder / "qrels.tsv").unlink()
    with pytest.raises(DatasetError, match=r"qrels\.tsv: this file cannot be read: No such file"):
        load(folder)


def test_other_encodings_are_refused(folder: Path) -> None:
    """Text that is not UTF-8 would be searched wrongly."""
    (folder / "corpus.jsonl").write_bytes('{"_id": "a", "text": "ü"}'.encode("latin-1"))
    with pytest.raises(DatasetError, match="this file is not UTF-8"):
        load(folder)
