"""Collections, documents, their versions and chunks, and the chunks' embeddings."""

from retrieval.models.chunks import Chunk, ChunkQuerySet
from retrieval.models.collections import Collection, CollectionQuerySet, Visibility
from retrieval.models.documents import (
    ENDED,
    Document,
    DocumentVersion,
    ErrorClass,
    Stage,
    stored_name,
)
from retrieval.models.ledger import IngestStage, Outcome
from retrieval.models.spaces import ChunkEmbedding, EmbeddingSpace, SpaceState

__all__ = [
    "ENDED",
    "Chunk",
    "ChunkEmbedding",
    "ChunkQuerySet",
    "Collection",
    "CollectionQuerySet",
    "Document",
    "DocumentVersion",
    "EmbeddingSpace",
    "ErrorClass",
    "IngestStage",
    "Outcome",
    "SpaceState",
    "Stage",
    "Visibility",
    "stored_name",
]
