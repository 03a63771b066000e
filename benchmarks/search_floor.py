"""The raw SQL floor: one hybrid query over one table, straight against PostgreSQL."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import connection
from psycopg import sql

from benchmarks.search_questions import Question, Times, recall

if TYPE_CHECKING:
    import numpy as np

DATABASE = "floor"
SHARDS = 100
LIMIT = 10
RECALL = 0.95
EF_SEARCH = (40, 60, 80, 100, 120, 160, 200, 300, 400)
# As in the shared tool: vector and full text, 50 each, fused by the sum of reciprocal ranks.
HYBRID = """
WITH v AS (SELECT id, row_number() OVER () r FROM
       (SELECT id FROM passage {where} ORDER BY embedding <=> %(vector)s::vector LIMIT 50) s),
     f AS (SELECT id, row_number() OVER () r FROM
       (SELECT id FROM passage, websearch_to_tsquery('simple', %(words)s) q
        WHERE {filter} tsv @@ q ORDER BY ts_rank_cd(tsv, q) DESC LIMIT 50) s)
SELECT id, body, sum(1.0 / (60 + r)) score
FROM (SELECT * FROM v UNION ALL SELECT * FROM f) u JOIN passage USING (id)
GROUP BY id, body ORDER BY score DESC LIMIT 10
"""
VECTOR = "SELECT id FROM passage ORDER BY embedding <=> %(vector)s::vector LIMIT 10"
ALL = HYBRID.format(where="", filter="")
FILTERED = HYBRID.format(where="WHERE shard = %(shard)s", filter="shard = %(shard)s AND ")


@dataclass(frozen=True)
class Floor:
    """A filled table, and how far its index must look to find nearly all that is near."""

    uri: str
    ef_search: int
    recall: float

    def one_at_a_time(self, questions: list[Question], *, filtered: bool) -> Times:
        """Return how long each question takes."""
        with self._connection() as own:
            for question in questions[:20]:
                ask(own, question, filtered=filtered)
            return Times([ask(own, question, filtered=filtered) for question in questions])

    def at_once(self, questions: list[Question], people: int, times: int) -> Times:
        """Return how long questions take that so many people ask all the time."""
        taken: list[float] = []
        ready = threading.Barrier(people + 1)

        def work(share: list[Question]) -> None:
            with self._connection() as own:
                for question in share[:2]:
                    ask(own, question, filtered=False)
                ready.wait()
                taken.extend([ask(own, question, filtered=False) for question in share])

        asked = questions * times
        threads = [
            threading.Thread(target=work, args=(asked[each::people],)) for each in range(people)
        ]
        for thread in threads:
            thread.start()
        ready.wait()
        began = time.perf_counter()
        for thread in threads:
            thread.join()
        return Times(taken, time.perf_counter() - began)

    def _connection(self) -> psycopg.Connection[Any]:
        own = psycopg.connect(self.uri, autocommit=True)
        own.execute(f"SET hnsw.ef_search = {self.ef_search}")
        own.execute("SET hnsw.iterative_scan = relaxed_order")
        return own


def ask(own: psycopg.Connection[Any], question: Question, *, filtered: bool) -> float:
    """Ask, and return the seconds it took."""
    params = {"vector": question.literal, "words": question.words, "shard": question.shard}
    began = time.perf_counter()
    own.execute(FILTERED if filtered else ALL, params, prepare=True).fetchall()
    return time.perf_counter() - began


def load(
    texts: list[str], vectors: np.ndarray[Any, Any], shards: list[int], questions: list[Question]
) -> Floor:
    """Fill a database of its own beside the site's, and find out how its index is to be searched.

    `questions` know which passages are nearest.
    """
    uri = _create()
    with psycopg.connect(uri, autocommit=True) as own:
        own.execute("CREATE EXTENSION vector")
        own.execute(
            "CREATE TABLE passage (id bigint PRIMARY KEY, shard int NOT NULL, body text NOT NULL,"
            " tsv tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED,"
            f" embedding vector({vectors.shape[1]}) NOT NULL)"
        )
        with own.cursor().copy("COPY passage (id, shard, body, embedding) FROM STDIN") as copy:
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
                copy.write_row((number, shards[number], text, str(vector.tolist())))
        own.execute("SET maintenance_work_mem = '1GB'")
        own.execute("CREATE INDEX ON passage USING hnsw (embedding vector_cosine_ops)")
        own.execute("CREATE INDEX ON passage USING gin (tsv)")
        own.execute("CREATE INDEX ON passage (shard)")
        own.execute("VACUUM (ANALYZE) passage")
        for ef_search in EF_SEARCH:
            own.execute(f"SET hnsw.ef_search = {ef_search}")
            found = [
                [id_ for (id_,) in own.execute(VECTOR, {"vector": question.literal}, prepare=True)]
                for question in questions
            ]
            reached = recall(found, [question.nearest for question in questions])
            if reached >= RECALL:
                break
    return Floor(uri, ef_search, reached)


def _create() -> str:
    name = sql.Identifier(DATABASE)
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
        cursor.execute(sql.SQL("CREATE DATABASE {}").format(name))
    own = connection.settings_dict
    return psycopg.conninfo.make_conninfo(
        host=own["HOST"], port=own["PORT"], user=own["USER"], password=own["PASSWORD"],
        dbname=DATABASE,
    )  # fmt: skip
