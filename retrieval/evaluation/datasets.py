"""Judged sets in the plain layout: documents, questions, and which documents answer which."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class DatasetError(Exception):
    """A set that cannot be read; says in which file and line, and what is wrong."""

    def __init__(self, path: Path, line: int | None, message: str) -> None:
        super().__init__(f"{path}{f', line {line}' if line else ''}: {message}")


@dataclass(frozen=True)
class SetDocument:
    """A document of a set's corpus."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class SetQuery:
    """A question; `answerable` is None where the set does not say."""

    id: str
    text: str
    answerable: bool | None = None


@dataclass(frozen=True)
class Dataset:
    """A set; `judgements` are by question and document, above 0 is relevant."""

    name: str
    documents: tuple[SetDocument, ...]
    queries: tuple[SetQuery, ...]
    judgements: dict[str, dict[str, int]]

    @property
    def judged(self) -> list[SetQuery]:
        """The questions that some document answers."""
        return [query for query in self.queries if query.id in self.judgements]

    @property
    def unanswerable(self) -> list[SetQuery]:
        """The questions that the set says no document answers."""
        return [query for query in self.queries if query.answerable is False]


def load(folder: Path) -> Dataset:
    """Return the set in a folder. Raises DatasetError."""
    documents = {
        id_: SetDocument(
            id_, _text(record, "title", place, default=""), _text(record, "text", place)
        )
        for id_, record, place in _records(folder / "corpus.jsonl")
    }
    queries = {
        id_: SetQuery(id_, _text(record, "text", place), _answerable(record, place))
        for id_, record, place in _records(folder / "queries.jsonl")
    }
    judgements: dict[str, dict[str, int]] = {}
    path = folder / "qrels.tsv"
    for number, line in _lines(path):
        if number == 1 and not line.rsplit("\t", 1)[-1].strip().lstrip("-").isdigit():
            continue  # the header
        query, document, score = _judgement(line, path, number)
        if query not in queries:
            raise DatasetError(path, number, f"there is no question {query!r}")
        if document not in documents:
            raise DatasetError(path, number, f"there is no document {document!r}")
        judgements.setdefault(query, {})[document] = score
    judged = {
        query: scores for query, scores in judgements.items() if any(s > 0 for s in scores.values())
    }
    return Dataset(
        folder.resolve().name, tuple(documents.values()), tuple(queries.values()), judged
    )


Place = tuple[Path, int]


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any], Place]]:
    """Yield each line's `_id`, what else it holds, and where it stands; at least one."""
    seen: set[str] = set()
    for number, line in _lines(path):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DatasetError(path, number, "this is not JSON") from error
        if not isinstance(record, dict):
            raise DatasetError(path, number, "this is not a JSON object")
        id_ = _text(record, "_id", (path, number))
        if id_ in seen:
            raise DatasetError(path, number, f"the _id {id_!r} is there twice")
        seen.add(id_)
        yield id_, record, (path, number)
    if not seen:
        raise DatasetError(path, None, "this file is empty")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their numbers."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except OSError as error:
        raise DatasetError(path, None, f"this file cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(path, None, "this file is not UTF-8") from error


def _text(record: dict[str, Any], key: str, place: Place, default: str | None = None) -> str:
    value = record.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise DatasetError(*place, f"{key} must be a text")
    return value


def _answerable(record: dict[str, Any], place: Place) -> bool | None:
    metadata = record.get("metadata") or {}
    answerable = metadata.get("answerable") if isinstance(metadata, dict) else ""
    if answerable is not None and not isinstance(answerable, bool):
        raise DatasetError(*place, "metadata.answerable must be true or false")
    return answerable


def _judgement(line: str, path: Path, number: int) -> tuple[str, str, int]:
    try:
        query, document, score = line.split("\t")
        return query, document, int(score)
    except ValueError as error:
        raise DatasetError(
            path, number, "this is not a question's id, a document's id and a whole number"
        ) from error
