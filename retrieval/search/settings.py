"""What a search can be told: the same object in Python, in an assistant and in the API."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from retrieval.connections import CONFIGURATION


class SearchSettingsError(ValueError):
    """Search settings that cannot be used; `field` is the dotted name of the one that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


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
    ef_search: int = Field(default=int(CONFIGURATION["hnsw.ef_search"]), ge=1, le=1000)
    """Candidates that HNSW looks at: more is slower and finds more; never below `top_k`."""
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
    limit: int = Field(default=10, ge=1, le=1000)
    """The most hits a search ends with."""
    offset: int = Field(default=0, ge=0, le=1000)
    """How many of the best hits are left out."""
    include_scores: bool = True
    include_metadatas: bool = False
    top_k: int = Field(default=50, ge=1, le=1000)
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
            field = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise SearchSettingsError(field, message) from error

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """Let the mode, and hybrid, say what is not said."""
        if not isinstance(data, dict):
            return data
        basic = data.get("search_mode") == "basic"
        hybrid = data.get("use_hybrid_search", not basic)
        filled = {"use_semantic_search": True, "use_fulltext_search": hybrid, "rerank": not basic}
        filled |= data
        both = filled["use_semantic_search"] is True and filled["use_fulltext_search"] is True
        return {"use_hybrid_search": both} | filled

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (self.use_semantic_search or self.use_fulltext_search):
            raise ValueError("use_semantic_search and use_fulltext_search cannot both be off")
        if self.use_hybrid_search != (self.use_semantic_search and self.use_fulltext_search):
            raise ValueError(
                "use_hybrid_search is on exactly when use_semantic_search and "
                "use_fulltext_search are both on"
            )
        weights = self.hybrid_settings
        if self.use_hybrid_search and not (weights.semantic_weight or weights.full_text_weight):
            raise ValueError(
                "hybrid_settings.semantic_weight and hybrid_settings.full_text_weight "
                "cannot both be 0"
            )
        return self
