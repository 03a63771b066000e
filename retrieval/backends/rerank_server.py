"""A reranker behind a server of one's own: llama.cpp, vLLM, infinity, Jina."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
from django.conf import settings

from retrieval.backends import clients
from retrieval.backends.base import Ranked
from retrieval.per_loop import PerLoop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval.backends.base import Passage, Query


class ServerReranker:
    """Orders by `POST <base_url>/rerank`, which takes `query` and `documents`."""

    # Scores of different models mean different things.
    answer_threshold = 0.0

    def __init__(self, model: str, base_url: str, api_key: str = "") -> None:
        self.model = model
        self._url = base_url.rstrip("/") + "/rerank"
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._clients = PerLoop(self._open, httpx.AsyncClient.aclose)

    async def rerank(self, query: Query, passages: Sequence[Passage], top_n: int) -> list[Ranked]:
        """Return the best `top_n`, best first. Raises BackendError."""
        if not passages:
            return []
        client = await self._clients.get()
        body = {
            "model": self.model,
            "query": query.text,
            "documents": [passage.titled_text for passage in passages],
            "top_n": min(top_n, len(passages)),
        }
        async for attempt in clients.attempts(patient=False):
            with attempt, backend_errors():
                answer = await client.post(self._url, json=body)
                answer.raise_for_status()
                results = [
                    (int(each["index"]), float(each["relevance_score"]))
                    for each in answer.json()["results"]
                ]
        best_first = sorted(results, key=lambda each: -each[1])[:top_n]
        # Some servers send logits.
        probabilities = all(0 <= score <= 1 for _, score in best_first)
        return [
            Ranked(position, score if probabilities else 1 / (1 + math.exp(-score)))
            for position, score in best_first
            if 0 <= position < len(passages)
        ]

    def _open(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            headers=self._headers,
            timeout=httpx.Timeout(
                settings.PROVIDER_FIRST_TOKEN_TIMEOUT, connect=settings.PROVIDER_CONNECT_TIMEOUT
            ),
        )


@contextmanager
def backend_errors() -> Iterator[None]:
    """Turn what may go wrong into BackendError."""
    try:
        yield
    except httpx.HTTPStatusError as exc:
        response = exc.response
        raise clients.status_error(response.status_code, response.headers, response.text) from exc
    except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
        raise clients.error("unreachable") from exc
    except httpx.TimeoutException as exc:
        raise clients.error("timeout") from exc
    except httpx.TransportError as exc:
        raise clients.error("dropped") from exc
    except (ValueError, LookupError, TypeError) as exc:
        raise clients.error("malformed") from exc
