"""The product's own search, asked as an answer asks it, in one process on one event loop."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

import psutil
from django.contrib.auth.models import User
from django.db import connection

from benchmarks.corpus import CHUNKS_A_DOCUMENT, load_document
from benchmarks.search_questions import Question, Times
from retrieval import backends, search
from retrieval.ingestion.indexes import build_index
from retrieval.ingestion.spaces import current_space
from retrieval.models import Chunk, Collection
from retrieval.search import SearchSettings, scope, term_statistics

if TYPE_CHECKING:
    import numpy as np

MEGABYTE = 2**20
HYBRID = SearchSettings.parse({"rerank": False})
TABLES = (
    "retrieval_collection, retrieval_document, retrieval_documentversion, retrieval_chunk,"
    " retrieval_chunkembedding, retrieval_embeddingspace"
)


class KnownEmbedder:
    """Knows the vectors of the questions, so that the model's time is not measured."""

    known: ClassVar[dict[str, Any]] = {}

    def __init__(self, model: str, dimensions: int, query_prefix: str, passage_prefix: str) -> None:
        self.model, self.dimensions, self.max_tokens = model, dimensions, 512
        self.query_prefix, self.passage_prefix = query_prefix, passage_prefix
        self.tokenizer = None

    def prepare(self) -> None:
        """Nothing to prepare."""

    def count_tokens(self, text: str) -> int:
        """Estimate."""
        return len(text) // 4

    async def embed_query(self, text: str) -> Any:
        """Return what is known."""
        return self.known[text]


@dataclass(frozen=True)
class Product:
    """The filled site, and somebody who may search it; `numbers` are the passages' by their ids."""

    user: User
    numbers: dict[UUID, int]

    async def ask(self, question: Question, settings: SearchSettings) -> list[search.Hit]:
        """Return what is found."""
        query = search.analyse(question.text)
        return (await search.retrieve(query, search.Scope(self.user), settings)).hits

    async def timed(self, question: Question, *, filtered: bool = False) -> float:
        """Ask, and return the seconds it took."""
        settings = narrowed(HYBRID, question) if filtered else HYBRID
        began = time.perf_counter()
        await self.ask(question, settings)
        return time.perf_counter() - began

    async def one_at_a_time(self, questions: list[Question], *, filtered: bool) -> Times:
        """Return how long each question takes."""
        for question in questions[:20]:
            await self.timed(question, filtered=filtered)
        return Times([await self.timed(question, filtered=filtered) for question in questions])

    async def at_once(self, questions: list[Question], people: int, times: int) -> Times:
        """Return how long questions take that so many people ask all the time."""
        asked = questions * times

        async def work(share: list[Question]) -> list[float]:
            return [await self.timed(question) for question in share]

        await asyncio.gather(*(self.timed(question) for question in questions[:people]))
        began = time.perf_counter()
        taken = await asyncio.gather(*(work(asked[each::people]) for each in range(people)))
        return Times([seconds for share in taken for seconds in share], time.perf_counter() - began)

    async def nearest(self, questions: list[Question], *, filtered: bool) -> list[list[int]]:
        """Return the numbers of the nearest ten passages of each question."""
        vector = SearchSettings.parse({"use_fulltext_search": False, "rerank": False})
        return [
            [
                self.numbers[hit.id]
                for hit in (
                    await self.ask(question, narrowed(vector, question) if filtered else vector)
                )[:10]
            ]
            for question in questions
        ]


def narrowed(settings: SearchSettings, question: Question) -> SearchSettings:
    """Return the settings with a filter that keeps a hundredth."""
    said = settings.model_dump(mode="json") | {"filters": {"metadata.shard": question.shard}}
    return SearchSettings.parse(said)


def load(texts: list[str], vectors: np.ndarray[Any, Any], shards: list[int]) -> Product:
    """Fill the site, emptied before, with the passages; a document has one shard only."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {TABLES} CASCADE")
    term_statistics.forget()
    scope.forget()
    space, collection = current_space(), Collection.objects.create(name="Passages")
    for shard in sorted(set(shards)):
        inside = [number for number, its in enumerate(shards) if its == shard]
        for start in range(0, len(inside), CHUNKS_A_DOCUMENT):
            part = inside[start : start + CHUNKS_A_DOCUMENT]
            load_document(
                collection, space, f"P{shard}N{start}", [texts[n] for n in part],
                [vectors[n] for n in part], {"shard": shard},
            )  # fmt: skip
    build_index(space)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
    by_text = {text: number for number, text in enumerate(texts)}
    numbers = {id_: by_text[text] for id_, text in Chunk.objects.values_list("id", "text")}
    user, _ = User.objects.get_or_create(username="reader")
    return Product(user, numbers)


def memory() -> dict[str, float]:
    """Return megabytes: of this process, and what the site's tables and indexes take on disk."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_table_size(relid)), sum(pg_indexes_size(relid))"
            " FROM pg_stat_user_tables WHERE relname LIKE 'retrieval_%%'"
        )
        tables, indexes = cursor.fetchone()
    return {
        "process": round(psutil.Process().memory_info().rss / MEGABYTE),
        "tables": round(tables / MEGABYTE),
        "indexes": round(indexes / MEGABYTE),
    }


def remember(texts: list[str], vectors: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return an entry for the settings: the configured embedder, knowing these questions."""
    embedder = backends.embedder()
    KnownEmbedder.known.update(zip(texts, vectors, strict=True))
    options = {
        name: getattr(embedder, name)
        for name in ("model", "dimensions", "query_prefix", "passage_prefix")
    }
    return {"BACKEND": "benchmarks.search_product.KnownEmbedder", "OPTIONS": options}
