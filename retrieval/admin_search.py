"""Trying a search in one document: what the search of answers finds there, with its scores."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync

from retrieval import search
from retrieval.backends.base import BackendError
from retrieval.search import strategies

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from retrieval.models import Document

logger = logging.getLogger(__name__)

LIMIT = 10
LONGEST_QUESTION = 1000


@dataclass(frozen=True)
class Tried:
    """What a search found, best first, and how long it took; `problem` is for people."""

    hits: tuple[search.Hit, ...] = ()
    milliseconds: int = 0
    problem: str = ""
    holds_answer: bool = False
    """Whether the best of it would be taken for an answer."""


def try_search(user: User | AnonymousUser, document: Document, question: str) -> Tried:
    """Search a document as a question is searched for, but in nothing else."""
    began = time.monotonic()
    try:
        tried = async_to_sync(_try)(user, document, question[:LONGEST_QUESTION])
    except BackendError as error:
        logger.warning("A search in %s failed: %s", document.pk, error.message)
        return Tried(problem="The embedding model cannot be reached. Try again later.")
    return replace(tried, milliseconds=round((time.monotonic() - began) * 1000))


async def _try(user: User | AnonymousUser, document: Document, question: str) -> Tried:
    settings = search.SearchSettings.parse(
        {"filters": {"id": str(document.pk)}, "limit": LIMIT, "top_n": LIMIT}
    )
    query = search.analyse(question)
    scope = search.Scope(user, (document.collection_id,))
    found = await strategies.search(query, scope, settings)
    problem = ""
    if found.degraded:
        problem = "The embedding model cannot be reached: only the words were searched for."
    try:
        hits = await search.rerank(query, found.hits, settings)
    except BackendError as error:
        logger.warning("Not reranked: %s", error.message)
        hits = found.hits[:LIMIT]
        problem = "The reranker cannot be reached: the passages are in the order of the search."
    return Tried(tuple(hits), problem=problem, holds_answer=search.holds_answer(hits))
