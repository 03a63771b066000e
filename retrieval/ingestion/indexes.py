"""The vector indexes of embedding spaces: one for each measure, of its space's rows only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

from django.db import connection
from psycopg import sql

from retrieval.measures import COSINE, MEASURES, TABLE, Measure, Method
from retrieval.models import EmbeddingSpace

METHODS: tuple[Method, ...] = ("hnsw", "ivfflat")


class CannotIndexError(ValueError):
    """pgvector has no such index; the message says why."""


@dataclass(frozen=True)
class Index:
    """A vector index; one that is not `valid` is being built, or its building was interrupted."""

    name: str
    measure: str
    method: Method
    valid: bool
    bytes: int


def index_name(space: EmbeddingSpace, measure: Measure = COSINE, method: Method = "hnsw") -> str:
    """Return the name of the index."""
    return measure.index_name(space.pk, method)


def existing(space: EmbeddingSpace) -> list[Index]:
    """Return the indexes of a space."""
    names = {
        measure.index_name(space.pk, method): (measure, method)
        for measure in MEASURES.values()
        for method in METHODS
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, indisvalid, pg_relation_size(indexrelid) FROM pg_index"
            " JOIN pg_class ON pg_class.oid = indexrelid"
            " WHERE indrelid = to_regclass(%s) AND relname = ANY(%s) ORDER BY relname",
            [TABLE, list(names)],
        )
        return [
            Index(name, names[name][0].name, names[name][1], valid, size)
            for name, valid, size in cursor.fetchall()
        ]


def build_index(space: EmbeddingSpace, measure: Measure = COSINE, method: Method = "hnsw") -> bool:
    """Build an index without locking the table; return whether it was not there yet.

    Must not run inside a transaction. A space of too many dimensions is left without an index of
    its default measure. Raises CannotIndexError.
    """
    if not measure.indexable(space.dimensions):
        if measure is COSINE and method == "hnsw":
            return False
        raise CannotIndexError(
            f"{measure.name} cannot be indexed for vectors of {space.dimensions:,} dimensions; "
            "hamming_distance and jaccard_distance can."
        )
    if method == "ivfflat" and not measure.ivfflat:
        raise CannotIndexError(f"There is no IVFFlat index for {measure.name}; use HNSW.")
    name = index_name(space, measure, method)
    found = {index.name: index.valid for index in existing(space)}
    built = not found.get(name, False)
    if built:
        with connection.cursor() as cursor:
            if name in found:
                # A build that was interrupted leaves an index that is kept up but never used.
                cursor.execute(_drop(name))
            cursor.execute(_create(space, measure, method))
    if measure is COSINE:
        EmbeddingSpace.objects.filter(pk=space.pk).update(indexed=True)
    return built


def drop_index(space: EmbeddingSpace, measure: Measure, method: Method) -> bool:
    """Drop an index without locking the table; return whether it was there."""
    name = index_name(space, measure, method)
    if name not in {index.name for index in existing(space)}:
        return False
    with connection.cursor() as cursor:
        cursor.execute(_drop(name))
    if measure is COSINE and not any(i.measure == measure.name for i in existing(space)):
        EmbeddingSpace.objects.filter(pk=space.pk).update(indexed=False)
    return True


def drop_all(space: EmbeddingSpace) -> None:
    """Drop every index of a space."""
    for index in existing(space):
        with connection.cursor() as cursor:
            cursor.execute(_drop(index.name))


def _drop(name: str) -> sql.Composed:
    return sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name))


def _create(space: EmbeddingSpace, measure: Measure, method: Method) -> sql.Composed:
    parameters = ", ".join(f"{name} = {value:d}" for name, value in _parameters(space, method))
    return sql.SQL(
        "CREATE INDEX CONCURRENTLY {} ON {} USING {} ({} {}) WITH ({}) WHERE space_id = {}"
    ).format(
        sql.Identifier(index_name(space, measure, method)),
        sql.Identifier(TABLE),
        sql.SQL(method),
        sql.SQL(f"({measure.stored(space.dimensions)})"),
        sql.SQL(measure.operator_class(space.dimensions)),
        sql.SQL(parameters),
        sql.Literal(space.pk),
    )


def _parameters(space: EmbeddingSpace, method: Method) -> Iterator[tuple[str, int]]:
    if method == "hnsw":
        # Twice the default of ef_construction: half as long again to build, and for the same recall
        # a third less to look at with each question.
        yield from (("m", 16), ("ef_construction", 128))
    else:
        # As pgvector advises: a thousandth of the rows, and the root of a million and more.
        rows = space.embeddings.count()
        yield "lists", max(1, min(rows // 1000 if rows <= 1_000_000 else isqrt(rows), 32_768))
