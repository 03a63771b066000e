"""Cohere: embeddings, reranking, chat (API version 2)."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from retrieval.backends import clients
from retrieval.backends.base import Delta, Ranked
from retrieval.backends.cohere_client import backend_errors, open_clients
from retrieval.backends.remote import RemoteEmbedder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from retrieval.backends.base import GenerationRequest, Passage, Query

COHERE_NAMES = {"top_p": "p"}
COMPLETE = {"COMPLETE", "STOP_SEQUENCE"}


class CohereEmbedder(RemoteEmbedder):
    """Embeds by `/v2/embed`, questions and passages each in their own way."""

    batch_size = 96

    def __init__(self, model: str, api_key: str = "", base_url: str = "", **known: Any) -> None:
        super().__init__(model, **known)
        self._clients = open_clients(api_key, base_url)

    async def request(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """Ask once."""
        client = await self._clients.get()
        options = {"output_dimension": self.dimensions} if self.shortened else {}
        with backend_errors():
            answer = await client.embed(
                model=self.model,
                texts=list(texts),
                input_type="search_query" if query else "search_document",
                embedding_types=["float"],
                **cast("Any", options),
            )
        if not answer.embeddings.float_:
            raise clients.error("malformed")
        return answer.embeddings.float_


class CohereReranker:
    """Orders by `/v2/rerank`."""

    # How high a score is depends on the question; there is no threshold that holds for all.
    answer_threshold = 0.0

    def __init__(self, model: str, api_key: str = "", base_url: str = "") -> None:
        self.model = model
        self._clients = open_clients(api_key, base_url)

    async def rerank(self, query: Query, passages: Sequence[Passage], top_n: int) -> list[Ranked]:
        """Return the best `top_n`, best first. Raises BackendError."""
        if not passages:
            return []
        client = await self._clients.get()
        async for attempt in clients.attempts(patient=False):
            with attempt, backend_errors():
                answer = await client.rerank(
                    model=self.model,
                    query=query.text,
                    documents=[passage.titled_text for passage in passages],
                    top_n=min(top_n, len(passages)),
                )
        return [Ranked(each.index, each.relevance_score) for each in answer.results]


class CohereGenerator:
    """Writes by `/v2/chat`, streamed."""

    quotes_only = False

    def __init__(self, model: str, api_key: str = "", base_url: str = "") -> None:
        self.model = model
        self._clients = open_clients(api_key, base_url)

    def stream(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        """Yield the answer as it comes; closing the iterator closes the connection.

        Raises BackendError, and never tries again by itself: the run does, and says so.
        """
        return clients.timed(self._deltas(request))

    async def _deltas(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        client = await self._clients.get()
        end: Any = None
        answered = False
        with backend_errors():
            stream = cast("AsyncGenerator[Any]", client.chat_stream(**self._body(request)))
            async with aclosing(stream):
                async for event in stream:
                    if event.type == "content-delta":
                        content = event.delta.message.content
                        yield Delta(content.text or "", content.thinking or "")
                        answered = answered or bool(content.text)
                    elif event.type == "message-end":
                        end = event.delta
        yield last_delta(end, answered=answered)

    def _body(self, request: GenerationRequest) -> dict[str, Any]:
        given = request.settings.given()
        return {
            **{COHERE_NAMES.get(name, name): value for name, value in given.items()},
            "model": request.model or self.model,
            "messages": [
                {"role": message.role, "content": message.content} for message in request.messages
            ],
        }


def last_delta(end: Any, *, answered: bool) -> Delta:
    """Return the end of an answer. Raises BackendError if it is not a good one."""
    if end is None:
        raise clients.error("dropped")
    if end.finish_reason == "ERROR_TOXIC":
        raise clients.error("content_filter")
    if end.finish_reason not in COMPLETE | {"MAX_TOKENS"}:
        raise clients.error("timeout" if end.finish_reason == "TIMEOUT" else "provider_error")
    if not answered:
        raise clients.error("empty")
    tokens = end.usage and end.usage.tokens
    return Delta(
        finish_reason="length" if end.finish_reason == "MAX_TOKENS" else "stop",
        prompt_tokens=int(tokens.input_tokens or 0) if tokens else 0,
        completion_tokens=int(tokens.output_tokens or 0) if tokens else 0,
    )
