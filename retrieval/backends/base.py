"""What a backend is: the three roles, what crosses their border, and the one error they raise."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from retrieval.backends.generation import GenerationSettings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = npt.NDArray[np.float32]

QUOTING = "extractive"
"""The model that answers name which are sentences of the documents, not a model's words."""


class BackendError(Exception):
    """A provider did not do what it was asked to.

    `message` is for people and holds nothing of the provider's own text; `retryable` says whether
    the same call may succeed later; `retry_after` is the wait in seconds the provider asked for;
    `code` is one of: unreachable, unauthorized, rate_limited, provider_error, timeout, dropped,
    malformed, content_filter, context_too_long, bad_request, empty.
    """

    def __init__(
        self,
        message: str,
        retryable: bool,
        *,
        code: str = "provider_error",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.code = code
        self.retry_after = retry_after


@dataclass(frozen=True)
class Sentence:
    """A sentence of a passage: [start, end) are code points of the passage's text."""

    text: str
    start: int
    end: int
    terms: frozenset[str]
    is_heading: bool = False


@dataclass(frozen=True)
class Query:
    """A question, and its terms (folded, stop words removed) in order of appearance.

    `language` is an ISO 639-1 code, "" when it is not certain.
    """

    text: str
    terms: tuple[str, ...]
    language: str = ""


@dataclass(frozen=True)
class Passage:
    """A passage as rerankers and generators see it; `index` is its number in the prompt.

    `analyse` splits the text into sentences with their terms when someone asks for them.
    """

    index: int
    text: str
    title: str
    heading: str = ""
    page: int | None = None
    language: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    analyse: Callable[[str], tuple[Sentence, ...]] = field(
        default=lambda text: (), repr=False, compare=False
    )

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the text, in order."""
        return self.analyse(self.text)

    @property
    def titled_text(self) -> str:
        """The text below its title and heading."""
        return "\n".join(part for part in (self.title, self.heading, self.text) if part)


@dataclass(frozen=True)
class Ranked:
    """A reranker's verdict on `passages[position]`; relevance_score is in [0, 1], high is good."""

    position: int
    relevance_score: float


@dataclass(frozen=True)
class ChatMessage:
    """One turn of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class GenerationRequest:
    """Everything a generator may use: the prompt, and the question and passages it was made of."""

    messages: Sequence[ChatMessage]
    question: Query
    passages: Sequence[Passage]
    model: str | None = None
    settings: GenerationSettings = field(default_factory=GenerationSettings)


@dataclass(frozen=True)
class Delta:
    """A piece of a generated answer; the last one carries finish_reason and usage."""

    text: str = ""
    thinking: str = ""
    finish_reason: Literal["stop", "length", "no_answer"] | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class EmbedderSpec:
    """What an embedding space says of the embedder that made its vectors.

    `options` is JSON of what the class at the dotted path `backend` is made with, but for keys.
    """

    model: str
    dimensions: int
    query_prefix: str = ""
    passage_prefix: str = ""
    backend: str = ""
    options: str = "{}"


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    model: str
    dimensions: int
    max_tokens: int
    """The model's window, prefix and special tokens included."""
    query_prefix: str
    passage_prefix: str

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The model's own tokenizer, or None when only `count_tokens` is there."""

    def prepare(self) -> None:
        """Make ready what the first call would wait for (convert weights, say); idempotent."""

    def count_tokens(self, text: str) -> int:
        """Return the number of the model's tokens in `text`, or a safe estimate from above."""

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimensions,)."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), dimensions)."""


@runtime_checkable
class Reranker(Protocol):
    """Orders passages by how well they answer a question."""

    answer_threshold: float
    """Best relevance_score below which the passages do not hold an answer; 0 if it cannot tell."""

    async def rerank(self, query: Query, passages: Sequence[Passage], top_n: int) -> list[Ranked]:
        """Return the best `top_n`, best first."""


@runtime_checkable
class Generator(Protocol):
    """Writes an answer, as a stream."""

    model: str
    quotes_only: bool
    """True when answers are sentences of the documents, not a model's words."""

    def stream(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        """Yield the answer as it comes; closing the iterator closes the provider's stream."""
