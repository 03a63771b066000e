"""Embeddings of texts, by the model that embeds the documents."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from django.utils.translation import gettext
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from chat.api.openai import errors
from chat.client_messages import storable

if TYPE_CHECKING:
    from retrieval.backends.base import Embedder, Vectors

MOST_TEXTS = 2048
MOST_TOKENS = 300_000


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError(gettext("There is nothing to embed."))
    return text


Text = Annotated[str, AfterValidator(storable), AfterValidator(_not_empty)]


class EmbeddingRequest(BaseModel):
    """A request to `embeddings`; `input_type` is none of OpenAI's, but other servers have it."""

    model: str
    input: Annotated[
        list[Text], BeforeValidator(_listed), Field(min_length=1, max_length=MOST_TEXTS)
    ]
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: int | None = None
    input_type: Literal["passage", "query"] | None = "passage"


def parse(body: bytes) -> EmbeddingRequest:
    """Return the request in a body. Raises ApiError that names the field."""
    try:
        return EmbeddingRequest.model_validate_json(body)
    except ValidationError as error:
        raise errors.invalid(error) from error


async def embed(embedder: Embedder, request: EmbeddingRequest) -> dict[str, Any]:
    """Return the answer to a request. Raises ApiError, BackendError."""
    if request.dimensions not in (None, embedder.dimensions):
        message = gettext("This model’s vectors have {n} dimensions.")
        raise errors.bad("dimensions", message.format(n=embedder.dimensions))
    counts = await asyncio.to_thread(_counts, embedder, request.input)
    _check(counts, embedder.max_tokens)
    if request.input_type == "query":
        vectors = np.array([await embedder.embed_query(text) for text in request.input])
    else:
        vectors = await embedder.embed_passages(request.input)
    used = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
    data = _data(vectors, as_base64=request.encoding_format == "base64")
    return {"object": "list", "data": data, "model": embedder.model, "usage": used}


def _counts(embedder: Embedder, texts: Sequence[str]) -> list[int]:
    return [embedder.count_tokens(text) for text in texts]


def _check(counts: Sequence[int], window: int) -> None:
    """Refuse what would be cut, and what would keep the model from everyone else."""
    for position, count in enumerate(counts):
        if count > window:
            message = gettext("The text has {n} tokens; the model reads at most {most}.")
            text = message.format(n=count, most=window)
            raise errors.bad(f"input.{position}", text, "context_length_exceeded")
    if sum(counts) > MOST_TOKENS:
        message = gettext("The texts have {n} tokens; at most {most} may be sent at once.")
        raise errors.bad("input", message.format(n=sum(counts), most=MOST_TOKENS))


def _data(vectors: Vectors, *, as_base64: bool) -> list[dict[str, Any]]:
    """Return the vectors as numbers, or as the bytes of little-endian float32."""
    rows = vectors.astype("<f4")
    return [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(row.tobytes()).decode() if as_base64 else row.tolist(),
        }
        for index, row in enumerate(rows)
    ]
