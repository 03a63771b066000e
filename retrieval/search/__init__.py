"""Finding the passages that answer a question: analyse, retrieve, rerank, build the context."""

from retrieval.search.context import answerable, build_context, diversify, holds_answer
from retrieval.search.describing import metadata_of
from retrieval.search.hits import Hit, passage, passages
from retrieval.search.query import analyse
from retrieval.search.reranking import rerank, window
from retrieval.search.retrieve import Retrieved, retrieve
from retrieval.search.scope import Scope, visible_collections
from retrieval.search.settings import SearchSettings, SearchSettingsError

__all__ = [
    "Hit",
    "Retrieved",
    "Scope",
    "SearchSettings",
    "SearchSettingsError",
    "analyse",
    "answerable",
    "build_context",
    "diversify",
    "holds_answer",
    "metadata_of",
    "passage",
    "passages",
    "rerank",
    "retrieve",
    "visible_collections",
    "window",
]
