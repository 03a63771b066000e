"""Search strategies: a generator writes what is searched for beside the question's own words.

`hyde` has it write hypothetical passages: vector search looks for their embeddings, averaged with
the question's, and full text for the question's words. `rag_fusion` has it write the question in
other words: each wording is retrieved at the same time, and the rankings are fused.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.backends.base import BackendError, ChatMessage, Query
from retrieval.backends.completion import complete, writes
from retrieval.search import operators
from retrieval.search.query import analyse
from retrieval.search.retrieve import Retrieved, retrieve
from retrieval.text.cleaning import inert

if TYPE_CHECKING:
    from retrieval.search.hits import Hit
    from retrieval.search.scope import Scope
    from retrieval.search.settings import SearchSettings

logger = logging.getLogger(__name__)

LONGEST_QUERY_CHARS = 300
LONGEST_PASSAGE_CHARS = 1500

PROMPTS = {
    "hyde": """Write {n} short passages, as they could stand in a document that answers the \
question. Each on one line, two or three sentences, in the language of the question. If you do \
not know the facts, write what such a passage would say. No numbering, no introduction.

Example. Question: How high is the tower of Lund?
The tower of Lund rises 96 metres above the square. It is the tallest building of the town.""",
    "rag_fusion": """Write {n} search queries that find documents answering the question. Each on \
one line, in other words than the question and each other, in the language of the question. Keep \
names, numbers and codes. No numbering, no introduction, no answer.

Example. Question: How high is the tower of Lund?
height of the tower of Lund in metres
Lund tower tall building""",
}


@dataclass(frozen=True)
class Written:
    """What a generator wrote for a search, and the tokens it says that took."""

    texts: tuple[str, ...]
    prompt_tokens: int = 0
    completion_tokens: int = 0


def asks_generator(settings: SearchSettings) -> bool:
    """Whether searching with these settings has a generator write."""
    return settings.search_strategy != "vanilla" and writes()


async def write(query: Query, settings: SearchSettings, model: str | None = None) -> Written:
    """Return `num_sub_queries` passages or queries, as the strategy wants them, or fewer.

    Raises BackendError: the generator fails, is too slow, only quotes, or wrote nothing of use.
    """
    strategy, wanted = settings.search_strategy, settings.num_sub_queries
    if not writes():
        raise BackendError("No model is configured that writes.", False, code="bad_request")
    asked = " ".join(inert(query.text).split())
    messages = [
        ChatMessage("system", PROMPTS[strategy].format(n=wanted)),
        ChatMessage("user", f"Question: {asked}"),
    ]
    completion = await complete(query.text, messages, model)
    longest = LONGEST_PASSAGE_CHARS if strategy == "hyde" else LONGEST_QUERY_CHARS
    useful = [
        line
        for line in dict.fromkeys(completion.lines)
        # A line that ends so introduces the others.
        if len(line) <= longest and not line.endswith((":", "：")) and not same(line, query.text)
    ]
    if not useful:
        raise BackendError("It wrote nothing that can be searched for.", True, code="malformed")
    return Written(tuple(useful[:wanted]), completion.prompt_tokens, completion.completion_tokens)


def same(one: str, other: str) -> bool:
    """Whether two texts differ in case, space and punctuation only."""
    first, second = (
        "".join(character for character in text.casefold() if character.isalnum())
        for text in (one, other)
    )
    return first == second


async def retrieve_with(
    query: Query, written: Sequence[str], scope: Scope, settings: SearchSettings
) -> Retrieved:
    """Return the `top_k` best chunks in scope for a query and what was written for it.

    Raises BackendError as `retrieve` does.
    """
    query, scope = await operators.apply(query, scope, settings)
    if not written:
        return await retrieve(query, scope, settings)
    if settings.search_strategy == "hyde":
        return await retrieve(query, scope, settings, passages=written)
    queries = [query, *map(analyse, written)]
    own, *others = await asyncio.gather(
        *(retrieve(each, scope, settings) for each in queries), return_exceptions=True
    )
    if isinstance(own, BaseException):
        raise own
    found = [own]
    for other in others:
        if isinstance(other, Retrieved):
            found.append(other)
        elif isinstance(other, BackendError):
            logger.warning("Searched without one of the wordings: %s", other.message)
        else:
            raise other
    hits = fuse([each.hits for each in found], settings.hybrid_settings.rrf_k)
    return Retrieved(hits[: settings.top_k], own.degraded)


async def search(
    query: Query, scope: Scope, settings: SearchSettings, model: str | None = None
) -> Retrieved:
    """Return the `top_k` best chunks in scope, as the settings' strategy finds them.

    Where nothing can be written for it the question is searched for as it is. Raises BackendError
    as `retrieve` does.
    """
    texts: tuple[str, ...] = ()
    if asks_generator(settings):
        try:
            texts = (await write(query, settings, model)).texts
        except BackendError as error:
            logger.warning("Searched for the question alone: %s", error.message)
    return await retrieve_with(query, texts, scope, settings)


def fuse(rankings: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Return the hits of several rankings by the sum of 1 / (k + rank), as score `fused`.

    What several rankings hold keeps its other scores from the first of them, and of equals the
    first ranking's comes first.
    """
    hits: dict[object, Hit] = {}
    sums: dict[object, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            hits.setdefault(hit.id, hit)
            sums[hit.id] = sums.get(hit.id, 0.0) + 1 / (k + rank)
    best_first = sorted(sums, key=lambda id_: -sums[id_])
    return [hits[id_].scored("fused", sums[id_]) for id_ in best_first]
