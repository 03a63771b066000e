"""How far two vectors are apart: the measures, and the vector index of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["hnsw", "ivfflat"]

TABLE = "retrieval_chunkembedding"
# pgvector indexes `vector` up to 2,000 dimensions, `halfvec` up to 4,000 and `bit` up to these.
VECTOR_DIMENSIONS = 2000
HALFVEC_DIMENSIONS = 4000
BIT_DIMENSIONS = 64_000


@dataclass(frozen=True)
class Measure:
    """A distance, low is good, by pgvector's operator and the name its operator classes have.

    `binary` ones compare one bit for each dimension: whether it is above zero.
    """

    name: str
    operator: str
    classes: str
    binary: bool = False
    ivfflat: bool = True

    def kind(self, dimensions: int) -> str:
        """Return the type of PostgreSQL that is compared."""
        if self.binary:
            return "bit"
        return "halfvec" if dimensions > VECTOR_DIMENSIONS else "vector"

    def indexable(self, dimensions: int) -> bool:
        """Whether vectors of so many dimensions can have an index."""
        return dimensions <= (BIT_DIMENSIONS if self.binary else HALFVEC_DIMENSIONS)

    def stored(self, dimensions: int, column: str = "embedding") -> str:
        """Return the SQL of what is compared, which is what the index holds."""
        value = f"binary_quantize({column})" if self.binary else column
        return f"({value}::{self.kind(dimensions)}({dimensions:d}))"

    def distance(self, dimensions: int, column: str) -> str:
        """Return the SQL of the distance of a column to a parameter, a vector as text."""
        asked = self.stored(dimensions, f"%s::vector({dimensions:d})" if self.binary else "%s")
        return f"({self.stored(dimensions, column)} {self.operator} {asked})"

    def operator_class(self, dimensions: int) -> str:
        """Return the operator class of the index."""
        return f"{self.kind(dimensions)}_{self.classes}_ops"

    def index_name(self, space: int, method: Method) -> str:
        """Return the name of a space's index."""
        middle = "" if self is COSINE else f"{self.name}_"
        return f"embedding_space_{space:d}_{middle}{method}"


COSINE = Measure("cosine_distance", "<=>", "cosine")
MEASURES = {
    measure.name: measure
    for measure in (
        COSINE,
        Measure("l2_distance", "<->", "l2"),
        Measure("max_inner_product", "<#>", "ip"),
        Measure("l1_distance", "<+>", "l1", ivfflat=False),
        Measure("hamming_distance", "<~>", "hamming", binary=True),
        # psycopg takes a percent sign for a parameter's.
        Measure("jaccard_distance", "<%%>", "jaccard", binary=True, ivfflat=False),
    )
}
