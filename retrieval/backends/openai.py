"""OpenAI, and every server that speaks its protocol (vLLM, Ollama, llama.cpp, LM Studio …)."""

from __future__ import annotations

from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import openai
from django.conf import settings
from openai import AsyncOpenAI, DefaultAioHttpClient

from retrieval.backends import clients, openai_events
from retrieval.backends.remote import RemoteEmbedder
from retrieval.per_loop import PerLoop

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

    from openai import AsyncAPIResponse

    from retrieval.backends.base import Delta, GenerationRequest


def open_clients(api_key: str, base_url: str) -> PerLoop[AsyncOpenAI]:
    """Return the clients of one server; without a key for those that need none."""

    def open_client() -> AsyncOpenAI:
        connect = settings.PROVIDER_CONNECT_TIMEOUT
        client = AsyncOpenAI(
            api_key=api_key or "none",
            base_url=base_url or None,
            http_client=DefaultAioHttpClient(),
            timeout=httpx2.Timeout(settings.PROVIDER_FIRST_TOKEN_TIMEOUT, connect=connect),
            max_retries=0,
        )
        # The SDK imports these when they are first used; not while a question waits.
        _ = client.embeddings, client.chat.completions
        return client

    return PerLoop(open_client, AsyncOpenAI.close)


@contextmanager
def backend_errors() -> Iterator[None]:
    """Turn the SDK's and the transport's errors into BackendError."""
    try:
        yield
    except openai.APIStatusError as exc:
        raise clients.status_error(exc.status_code, exc.response.headers, str(exc.body)) from exc
    except openai.APITimeoutError as exc:
        # What aiohttp calls disconnected arrives here as a timeout of the connection.
        waited = not isinstance(exc.__cause__, httpx2.ConnectTimeout)
        raise clients.error("timeout" if waited else "unreachable") from exc
    except openai.APIConnectionError as exc:
        raise clients.error("unreachable") from exc
    except httpx2.ReadTimeout as exc:
        raise clients.error("timeout") from exc
    except httpx2.TransportError as exc:
        raise clients.error("dropped") from exc
    except openai.APIError as exc:
        raise clients.error("malformed") from exc


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds by `/embeddings`."""

    batch_size = 256

    def __init__(self, model: str, api_key: str = "", base_url: str = "", **known: Any) -> None:
        super().__init__(model, **known)
        self._clients = open_clients(api_key, base_url)

    async def request(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """Ask once; questions and passages differ by their prefixes only."""
        client = await self._clients.get()
        dimensions = self.dimensions if self.shortened else openai.omit
        with backend_errors():
            answer = await client.embeddings.create(
                model=self.model, input=list(texts), dimensions=dimensions
            )
            return [each.embedding for each in sorted(answer.data, key=lambda each: each.index)]


class OpenAIGenerator:
    """Writes by `/chat/completions`, streamed."""

    quotes_only = False

    def __init__(self, model: str, api_key: str = "", base_url: str = "") -> None:
        self.model = model
        self._clients = open_clients(api_key, base_url)
        # OpenAI's reasoning models refuse the old name, other servers may not know the new one.
        self._limit = "max_tokens" if base_url else "max_completion_tokens"
        self._counts_tokens = True

    def stream(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        """Yield the answer as it comes; closing the iterator closes the connection.

        Raises BackendError, and never tries again by itself: the run does, and says so.
        """
        return clients.timed(self._deltas(request))

    async def _deltas(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        client = await self._clients.get()
        lines, answer = clients.EventLines(), openai_events.Answer()
        with backend_errors():
            async with AsyncExitStack() as stack:
                response = await self._connect(stack, client, request)
                async for chunk in response.iter_bytes():
                    for data in lines.feed(chunk):
                        if delta := answer.take(data):
                            yield delta
                    if answer.complete:
                        break
                for data in lines.feed(b"\n"):  # where the last line has no end
                    if delta := answer.take(data):
                        yield delta
        yield answer.end()

    async def _connect(
        self, stack: AsyncExitStack, client: AsyncOpenAI, request: GenerationRequest
    ) -> AsyncAPIResponse[Any]:
        """Send the request; once more without asking for token counts if that is not known."""
        create = client.chat.completions.with_streaming_response.create
        try:
            return await stack.enter_async_context(create(**self._body(request)))
        except (openai.BadRequestError, openai.UnprocessableEntityError) as exc:
            if not self._counts_tokens or "stream_options" not in str(exc.body):
                raise
            self._counts_tokens = False
            return await stack.enter_async_context(create(**self._body(request)))

    def _body(self, request: GenerationRequest) -> dict[str, Any]:
        body = {
            **request.settings.given(),
            "model": request.model or self.model,
            "messages": [
                {"role": message.role, "content": message.content} for message in request.messages
            ],
            "max_tokens": None,
            self._limit: request.settings.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True} if self._counts_tokens else None,
        }
        return {name: value for name, value in body.items() if value is not None}
