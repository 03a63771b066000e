"""What a search can be told: the same object in Python, in an assistant and in the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from retrieval.search import filters
from retrieval.search.filter_values import FilterError
from retrieval.search.filters import Comparison, Filter, Junction

# Hits that can be looked at, from the first one on.
MOST_HITS = 1000
LIMIT = 10
TOP_K = 50


class SearchSettingsError(ValueError):
    """Search settings that cannot be used; `field` is the dotted name of the one that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class _CombinationError(ValueError):
    """Fields that do not go together; `field` is the one to change."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.path = tuple(field.split("."))


def _filter(value: object) -> Filter | None:
    if isinstance(value, (Comparison, Junction)):
        return value
    return None if value is None or value == {} else filters.parse(value)


Filters = Annotated[
    Filter | None,
    PlainValidator(_filter),
    PlainSerializer(lambda value: value and value.to_json()),
    WithJsonSchema({"type": ["object", "null"]}),
]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class HybridSettings(_Settings):
    """How what vector and full-text search found becomes one list."""

    fusion: Literal["relative_score", "rrf"] = "relative_score"
    semantic_weight: float = Field(default=1.0, ge=0, le=1000)
    full_text_weight: float = Field(default=0.5, ge=0, le=1000)
    full_text_limit: int = Field(default=100, ge=1, le=1000)
    """How many full-text hits take part."""
    rrf_k: int = Field(default=50, ge=1, le=1000)


Measure = Literal[
    "cosine_distance",
    "l2_distance",
    "max_inner_product",
    "l1_distance",
    "hamming_distance",
    "jaccard_distance",
]


class ChunkSettings(_Settings):
    """How the vector index is searched."""

    index_measure: Measure = "cosine_distance"
    ef_search: int | None = Field(default=None, ge=1, le=1000)
    """Candidates that HNSW looks at: more is slower and finds more; never below `top_k`.

    Where it is not set, as many as the number of chunks asks for."""
    probes: int = Field(default=10, ge=1, le=32_768)
    """Lists that an IVFFlat index looks at; other indexes have none."""


class SearchSettings(_Settings):
    """How to search.

    `search_mode` sets what is not said: `basic` is vector search alone, `advanced` is vector and
    full text, fused and reranked; `custom` is what `advanced` is, for settings that say it all.
    """

    search_mode: Literal["basic", "advanced", "custom"] = "advanced"
    use_semantic_search: bool = True
    use_fulltext_search: bool = True
    use_hybrid_search: bool = True
    """Always the same as both of the others together; it may be left out."""
    query_syntax: Literal["plain", "operators"] = "plain"
    """Whether `"exact words"` and `-excluded` in a question are operators."""
    search_strategy: Literal["vanilla", "hyde", "rag_fusion"] = "vanilla"
    num_sub_queries: int = Field(default=3, ge=1, le=10)
    """How many queries or documents a generator writes for `rag_fusion` or `hyde`."""
    filters: Filters = None
    """What documents must be like: see docs/filters.md."""
    limit: int = Field(default=LIMIT, ge=1, le=1000)
    """The most hits a search ends with."""
    offset: int = Field(default=0, ge=0, le=1000)
    """How many of the best hits are left out."""
    include_scores: bool = True
    include_metadatas: bool = False
    top_k: int = Field(default=TOP_K, ge=1, le=1000)
    """Candidates that retrieval hands to the reranker."""
    top_n: int = Field(default=8, ge=1, le=1000)
    """Hits that survive reranking."""
    rerank: bool = True
    hybrid_settings: HybridSettings = HybridSettings()
    chunk_settings: ChunkSettings = ChunkSettings()

    @classmethod
    def parse(cls, data: object) -> Self:
        """Return the settings in `data`, from JSON; raise SearchSettingsError naming the field."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            cause = first.get("ctx", {}).get("error")
            inner = cause.path if isinstance(cause, (FilterError, _CombinationError)) else ()
            field = ".".join(str(part) for part in (*first["loc"], *inner))
            raise SearchSettingsError(field, first["msg"].removeprefix("Value error, ")) from error

    def within(self, outer: Filter | None) -> Self:
        """Return the settings with a filter that must hold beside their own."""
        if outer is None:
            return self
        joined = Junction("$and", (outer, self.filters)) if self.filters else outer
        return self.model_copy(update={"filters": joined})

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """Let the mode, hybrid and the limit say what is not said."""
        if not isinstance(data, dict):
            return data
        basic = data.get("search_mode") == "basic"
        hybrid = data.get("use_hybrid_search")
        hybrid = hybrid if isinstance(hybrid, bool) else not basic  # else told of by its own field
        filled = {"use_semantic_search": True, "use_fulltext_search": hybrid, "rerank": not basic}
        filled |= data
        both = filled["use_semantic_search"] is True and filled["use_fulltext_search"] is True
        return {"use_hybrid_search": both} | _as_many_as_wanted(data) | filled

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (self.use_semantic_search or self.use_fulltext_search):
            raise _CombinationError(
                "use_semantic_search", "cannot be off together with use_fulltext_search"
            )
        if self.use_hybrid_search != (self.use_semantic_search and self.use_fulltext_search):
            raise _CombinationError(
                "use_hybrid_search",
                "is on exactly when use_semantic_search and use_fulltext_search are both on",
            )
        if self.search_strategy == "hyde" and not self.use_semantic_search:
            raise _CombinationError("search_strategy", "needs use_semantic_search for hyde")
        weights = self.hybrid_settings
        if self.use_hybrid_search and not (weights.semantic_weight or weights.full_text_weight):
            raise _CombinationError(
                "hybrid_settings.semantic_weight",
                "cannot be 0 together with hybrid_settings.full_text_weight",
            )
        if self.query_syntax == "operators" and not self.use_fulltext_search:
            raise _CombinationError("query_syntax", "needs use_fulltext_search for operators")
        self._check_window()
        return self

    def _check_window(self) -> None:
        if self.offset + self.limit > MOST_HITS:
            raise _CombinationError("offset", f"and limit are {MOST_HITS} together at most")
        if self.offset >= self.top_k:
            raise _CombinationError("top_k", "must be more than offset: nothing would be left")


def _as_many_as_wanted(data: dict[str, Any]) -> dict[str, int]:
    """Return how many hits to retrieve and to keep where `limit` or `offset` asks for more."""
    given = [data[field] for field in ("limit", "offset") if type(data.get(field)) is int]
    if not given:
        return {}
    wanted = min(max(sum(given) + ("limit" not in data) * LIMIT, 1), MOST_HITS)
    return {"top_k": max(TOP_K, wanted), "top_n": wanted}
