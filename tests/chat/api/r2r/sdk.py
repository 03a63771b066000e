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
        IngestionStatus,
    )
    from shared.abstractions.user import User
    from shared.api.models.retrieval.responses import (
        Citation,
        CitationEvent,
        FinalAnswerEvent,
        MessageEvent,
        SearchResultsEvent,
    )

__all__ = [
    "AggregateSearchResult",
    "Citation",
    "CitationEvent",
    "DocumentResponse",
    "DocumentType",
    "FinalAnswerEvent",
    "GenerationConfig",
    "IngestionStatus",
    "MessageEvent",
    "R2RAsyncClient",
    "R2RClient",
    "R2RException",
    "SearchResultsEvent",
    "SearchSettings",
    "User",
    "parse_retrieval_event",
]
