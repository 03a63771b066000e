"""What programs send in other APIs' words is understood, or refused in words, whatever is where."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from chat.api.langgraph import schemas
from chat.api.openai import embeddings, requests
from chat.api.openai.errors import ApiError
from chat.api.r2r import generation, search_settings
from chat.api.refusing import of_fields
from chat.api.streaming import to_json
from retrieval.backends.generation import GenerationSettingsError
from retrieval.search import SearchSettings, SearchSettingsError

Read = Callable[[Any], object]

ODD: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, 10**30, "", "\0", "x", "x" * 30_000, "\ud83d", "é\u2028",
    [], {}, [[]], [{}], [None], [1, "x"], {"a": 1}, {"$and": 1}, {"\ud83d": "\0"},
]  # fmt: skip

SEARCH = {
    "search_mode": "custom",
    "search_settings": {
        "filters": {"$and": [{"year": {"$gte": 1}}, {"tags": {"$contains": ["a"]}}]},
        "search_filters": {"name": "a"},
        "limit": 2,
        "hybrid_settings": {"semantic_weight": 1, "rrf_k": 5},
        "chunk_settings": {"index_measure": "cosine_distance", "enabled": True},
        "search_strategy": "query_fusion",
        "use_hybrid_search": True,
        "graph_settings": {},
    },
}
GENERATION = {"model": "vendor/large", "temperature": 0.1, "max_tokens": 9, "stream": True}
CHAT = {
    "model": "guide",
    "messages": [
        {"role": "system", "content": "Be short."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "user", "content": [{"type": "text", "text": "How high?"}]},
    ],
    "stream_options": {"include_usage": True},
    "n": 1,
    "seed": 5,
    "max_completion_tokens": 5,
    "response_format": {"type": "text"},
    "collections": ["Buildings"],
    "search_settings": {"limit": 1},
}
EMBEDDINGS = {"model": "m", "input": ["x"], "encoding_format": "float", "dimensions": 5}
RUN = {
    "assistant_id": "guide",
    "input": {
        "messages": [
            {"type": "ai", "content": "Yes."},
            ["user", "Why?"],
            {"role": "user", "content": [{"type": "text", "text": "How high?"}]},
        ]
    },
    "stream_mode": ["values"],
    "metadata": {"a": 1},
    "config": {"configurable": {"collections": ["Buildings"], "settings": {"limit": 1}}},
    "context": {"model": "large", "generation": {"temperature": 0}},
    "checkpoint": {"checkpoint_id": "x"},
}
THREADS = {"metadata": {"a": 1}, "ids": [], "status": "idle", "limit": 1, "select": ["values"]}


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to a value, and to each in it."""
    yield at
    match value:
        case dict():
            inner: list[tuple[str | int, Any]] = [*value.items()]
        case list():
            inner = [*enumerate(value)]
        case _:
            inner = []
    for key, each in inner:
        yield from places(each, (*at, key))


def put(body: Any, at: tuple[str | int, ...], odd: object) -> Any:
    """Return a body with another value at a place."""
    if not at:
        return odd
    changed = found = copy.deepcopy(body)
    for key in at[:-1]:
        found = found[key]
    found[at[-1]] = odd
    return changed


def read_search(body: Any) -> None:
    said = body if isinstance(body, dict) else {}
    wanted = search_settings.translated(said.get("search_mode"), said.get("search_settings"))
    SearchSettings.parse(wanted.settings)


def read_chat(body: Any) -> None:
    requests.question(requests.parse(json.dumps(body).encode()), None)


def told(error: Exception) -> str:
    """Return what is told of an error, as its API tells it."""
    match error:
        case ApiError():
            return json.dumps(error.body(), ensure_ascii=False)
        case ValidationError():
            return of_fields([{**each} for each in error.errors()]).message
    return str(error)


@pytest.mark.parametrize(
    ("read", "body"),
    [
        (read_search, SEARCH),
        (generation.translated, GENERATION),
        (read_chat, CHAT),
        (lambda body: embeddings.parse(json.dumps(body).encode()), EMBEDDINGS),
        (schemas.RunCreate.model_validate, RUN),
        (schemas.ThreadSearch.model_validate, THREADS),
    ],
    ids=["r2r search", "r2r generation", "openai chat", "openai embeddings", "run", "threads"],
)
def test_any_value_anywhere_is_understood_or_refused(read: Read, body: Any) -> None:
    read(body)
    for at in places(body):
        for odd in ODD:
            try:
                read(put(body, at, odd))
            except (
                ApiError,
                ValidationError,
                SearchSettingsError,
                GenerationSettingsError,
            ) as error:
                assert to_json(told(error)).isascii(), (at, odd)
