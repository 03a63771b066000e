"""The embedding space that questions are compared in: the active one, with its own embedder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval import backends
from retrieval.backends.base import EmbedderSpec
from retrieval.database import fetch
from retrieval.measures import COSINE, TABLE, Measure, Method

if TYPE_CHECKING:
    from retrieval.backends.base import Embedder

# The names of indexes that are whole, of all spaces, are read along: a few rows of the catalogue.
ACTIVE = f"""
SELECT space.id, space.dimensions, space.model, space.query_prefix, space.passage_prefix,
  space.backend, space.options::text,
  ARRAY(SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indrelid = '{TABLE}'::regclass AND indisvalid AND relname LIKE 'embedding_space_%%')
FROM retrieval_embeddingspace AS space WHERE space.state = 'active'
"""


@dataclass(frozen=True)
class Space:
    """An embedding space, and the names of the vector indexes that are built."""

    id: int
    dimensions: int
    spec: EmbedderSpec | None = None
    indexes: frozenset[str] = frozenset()

    @property
    def of_space(self) -> str:
        """The condition that `embedding` is of this space, as the partial indexes have it."""
        return f"embedding.space_id = {self.id:d}"

    @property
    def cosine_distance(self) -> str:
        """The cosine distance of `embedding` to a parameter."""
        return self.distance(COSINE)

    def distance(self, measure: Measure) -> str:
        """Return the distance of `embedding` to a parameter, in SQL.

        The expression, and the space's id in `of_space`, are those of the space's partial index:
        only so does the planner use it.
        """
        return measure.distance(self.dimensions, "embedding.embedding")

    def has_index(self, measure: Measure, method: Method) -> bool:
        """Whether that index is built."""
        return measure.index_name(self.id, method) in self.indexes

    @property
    def embedder(self) -> Embedder:
        """The model of this space, the only one whose vectors can be compared in it.

        Raises BackendError if it cannot be made.
        """
        if self.spec is None:
            return backends.embedder()
        return backends.embedder_of(self.spec)


async def active() -> Space | None:
    """Return the space that is searched; None before anything is embedded.

    Raises DatabaseError.
    """
    rows = await fetch(ACTIVE)
    if not rows:
        return None
    id_, dimensions, model, query_prefix, passage_prefix, backend, options, indexes = rows[0]
    # As `describe` writes them, so that equal options make the same embedder.
    options = json.dumps(json.loads(options), sort_keys=True)
    spec = EmbedderSpec(model, dimensions, query_prefix, passage_prefix, backend, options)
    return Space(id_, dimensions, spec, frozenset(indexes))
