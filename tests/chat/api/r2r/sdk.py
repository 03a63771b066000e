"""The R2R SDK: its models are of an older pydantic, which warns while they are made."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from r2r import R2RAsyncClient, R2RClient, R2RException, SearchSettings
    from sdk.models import GenerationConfig
    from sdk.sync_methods.retrieval import parse_retrieval_event
    from shared.abstractions import AggregateSearchResult
    from shared.abstractions.document import (
        DocumentResponse,
        DocumentType,
        GraphConstructionStatus,
        IngestionStatus,
    )
    from shared.api.models.management.responses import (
        ChunkResponse,
        CollectionResponse,
        ConversationResponse,
        MessageResponse,
    )
    from shared.api.models.retrieval.responses import (
        Citation,
        CitationEvent,
        FinalAnswerEvent,
        MessageEvent,
        SearchResultsEvent,
    )

__all__ = [
    "AggregateSearchResult",
    "ChunkResponse",
    "Citation",
    "CitationEvent",
    "CollectionResponse",
    "ConversationResponse",
    "DocumentResponse",
    "DocumentType",
    "FinalAnswerEvent",
    "GenerationConfig",
    "GraphConstructionStatus",
    "IngestionStatus",
    "MessageEvent",
    "MessageResponse",
    "R2RAsyncClient",
    "R2RClient",
    "R2RException",
    "SearchResultsEvent",
    "SearchSettings",
    "parse_retrieval_event",
]
