"""The R2R SDK: its models are of an older pydantic, which warns while they are made."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from r2r import R2RAsyncClient, R2RClient, R2RException, SearchSettings
    from sdk.models import GenerationConfig
    from sdk.sync_methods.retrieval import parse_retrieval_event
    from shared.abstractions import AggregateSearchResult
    from shared.api.models.retrieval.responses import Citation

__all__ = [
    "AggregateSearchResult",
    "Citation",
    "GenerationConfig",
    "R2RAsyncClient",
    "R2RClient",
    "R2RException",
    "SearchSettings",
    "parse_retrieval_event",
]
