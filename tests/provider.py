"""A provider of the test suite: a real HTTP server that speaks OpenAI's and Cohere's protocols.

It runs in a thread with an event loop of its own, so the same calls serve synchronous tests,
asynchronous ones and browser tests. What it answers is scripted, a fault included; while it is
held, it produces only the tokens that are released.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import ssl
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.provider_events import CohereEvents, OpenAIEvents

WAIT_SECONDS = 20.0
DIMENSIONS = 64


@dataclass
class Answer:
    """What to do with one request.

    `tokens` may have no end. After that many tokens the answer is dropped (the connection is
    cut), stalled (nothing comes any more), malformed (a line that is no JSON), or failed (an
    error among the events). `finish_reason` None ends the stream without saying why.
    """

    tokens: Iterable[str] = ("The", " answer", " is", " 42", " [1].")
    thinking: Iterable[str] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: str = "made up by the test suite: secret detail"
    drop_after: int | None = None
    stall_after: int | None = None
    malformed_after: int | None = None
    fail_after: int | None = None
    finish_reason: str | None = "stop"


@dataclass
class Request:
    """A request as it came in, and what became of its answer."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    produced: list[float] = field(default_factory=list)
    """When each token was produced, by `time.monotonic`."""
    closed: Future[float] = field(default_factory=Future)
    """Done when the answer's stream has ended, with the time; for threads: `closed.result(5)`."""
    disconnected: bool = False
    """Whether the client ended the stream."""

    @property
    def tokens(self) -> int:
        """How many tokens were produced so far."""
        return len(self.produced)

    def tokens_after(self, moment: float) -> int:
        """Return how many tokens were produced after a moment of `time.monotonic`."""
        return sum(when > moment for when in self.produced)

    async def wait_closed(self) -> float:
        """Wait until the stream has ended; return when that was."""
        return await asyncio.wait_for(asyncio.wrap_future(self.closed), WAIT_SECONDS)


class Provider:
    """The server. Its methods may be called from any thread."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """Speak TLS with that context, plain HTTP without one."""
        self.tls = tls
        self.requests: list[Request] = []
        self.answers: deque[Answer] = deque()
        self.default = Answer()
        self._arrived = threading.Condition()
        self._credit = float("inf")
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Event()
        self._port: Future[int] = Future()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="provider", daemon=True)

    def start(self) -> None:
        """Listen on a free port."""
        self._thread.start()
        self._port.result(WAIT_SECONDS)

    def stop(self) -> None:
        """Cut what is still open, and end the thread."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(WAIT_SECONDS)

    @property
    def root(self) -> str:
        """The address, as `COHERE_BASE_URL` wants it."""
        scheme = "https" if self.tls else "http"
        return f"{scheme}://127.0.0.1:{self._port.result(WAIT_SECONDS)}"

    @property
    def url(self) -> str:
        """The address, as `OPENAI_BASE_URL` wants it."""
        return f"{self.root}/v1"

    def script(self, *answers: Answer) -> None:
        """Answer the next requests so; later ones get `default`."""
        self.answers.extend(answers)

    def hold(self) -> None:
        """Produce no token from now on, until some are released."""
        self._set_credit(lambda _: 0)

    def release(self, tokens: int = 1) -> None:
        """Let that many tokens be produced, whichever request they are for."""
        self._set_credit(lambda credit: credit + tokens)

    def resume(self) -> None:
        """Hold nothing any more."""
        self._set_credit(lambda _: float("inf"))

    def wait_for_request(self, number: int = 1) -> Request:
        """Block until that many requests have come; return the last of them."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= number, WAIT_SECONDS):
                raise AssertionError(f"{len(self.requests)} of {number} requests came")
            return self.requests[number - 1]

    async def request(self, number: int = 1) -> Request:
        """Wait until that many requests have come; return the last of them."""
        return await asyncio.to_thread(self.wait_for_request, number)

    # In the server's thread from here on.

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _serve(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._openai_chat)
        app.router.add_post("/v1/embeddings", self._openai_embeddings)
        app.router.add_post("/v2/chat", self._cohere_chat)
        app.router.add_post("/v2/embed", self._cohere_embed)
        app.router.add_post("/v2/rerank", self._rerank)
        app.router.add_post("/rerank", self._rerank)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self.tls)
        await site.start()
        self._port.set_result(runner.addresses[0][1])
        await self._stopping.wait()
        await runner.cleanup()

    def _set_credit(self, change: Any) -> None:
        def apply() -> None:
            self._credit = change(self._credit)
            self._changed.set()
            self._changed.clear()
            done.set_result(None)

        done: Future[None] = Future()
        self._loop.call_soon_threadsafe(apply)
        done.result(WAIT_SECONDS)

    async def _take_credit(self) -> None:
        while self._credit < 1:
            await self._changed.wait()
        self._credit -= 1

    async def _note(self, request: web.Request) -> tuple[Request, Answer]:
        noted = Request(request.path, dict(request.headers), await request.json())
        answer = self.answers.popleft() if self.answers else self.default
        with self._arrived:
            self.requests.append(noted)
            self._arrived.notify_all()
        return noted, answer

    async def _openai_chat(self, request: web.Request) -> web.StreamResponse:
        noted, answer = await self._note(request)
        if answer.status != 200:
            return refusal(noted, answer)
        return await self._stream(request, noted, answer, OpenAIEvents(noted.body))

    async def _cohere_chat(self, request: web.Request) -> web.StreamResponse:
        noted, answer = await self._note(request)
        if answer.status != 200:
            return refusal(noted, answer)
        return await self._stream(request, noted, answer, CohereEvents())

    async def _stream(
        self,
        request: web.Request,
        noted: Request,
        answer: Answer,
        events: OpenAIEvents | CohereEvents,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        try:
            await response.prepare(request)
            await response.write(events.start())
            for text in answer.thinking:
                await response.write(events.thinking(text))
            for count, text in enumerate(itertools.chain(answer.tokens, [None])):
                if count == answer.drop_after and request.transport:
                    request.transport.abort()
                    break
                if count == answer.stall_after:
                    await asyncio.Event().wait()
                if count == answer.malformed_after:
                    await response.write(b"data: {this is no JSON\n\n")
                if count == answer.fail_after:
                    await response.write(events.failure(answer.error))
                if text is None:
                    await response.write(events.end(answer.finish_reason, count))
                    await response.write_eof()
                    break
                await self._take_credit()
                noted.produced.append(time.monotonic())
                await response.write(events.token(text))
                await asyncio.sleep(0)
        except (asyncio.CancelledError, ConnectionError):
            noted.disconnected = True
            raise
        finally:
            noted.closed.set_result(time.monotonic())
        return response

    async def _openai_embeddings(self, request: web.Request) -> web.StreamResponse:
        noted, answer = await self._note(request)
        if answer.status != 200:
            return refusal(noted, answer)
        vectors = [embed(text, noted.body.get("dimensions")) for text in noted.body["input"]]
        as_base64 = noted.body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(vector.tobytes()).decode()
                if as_base64
                else vector.tolist(),
            }
            for index, vector in enumerate(vectors)
        ]
        noted.closed.set_result(time.monotonic())
        return web.json_response({"object": "list", "data": data, "model": noted.body["model"]})

    async def _cohere_embed(self, request: web.Request) -> web.StreamResponse:
        noted, answer = await self._note(request)
        if answer.status != 200:
            return refusal(noted, answer)
        texts = noted.body["texts"]
        floats = [embed(text, noted.body.get("output_dimension")).tolist() for text in texts]
        noted.closed.set_result(time.monotonic())
        return web.json_response(
            {
                "id": "1",
                "response_type": "embeddings_by_type",
                "embeddings": {"float": floats},
                "texts": texts,
                "meta": {"api_version": {"version": "2"}},
            }
        )

    async def _rerank(self, request: web.Request) -> web.StreamResponse:
        """Score by the share of the query's words."""
        noted, answer = await self._note(request)
        if answer.status != 200:
            return refusal(noted, answer)
        asked = set(noted.body["query"].lower().split())
        shares = [
            len(asked & set(document.lower().split())) / len(asked)
            for document in noted.body["documents"]
        ]
        order = sorted(range(len(shares)), key=lambda index: -shares[index])
        results = [{"index": index, "relevance_score": shares[index]} for index in order]
        noted.closed.set_result(time.monotonic())
        return web.json_response({"id": "1", "results": results[: noted.body["top_n"]]})


def refusal(noted: Request, answer: Answer) -> web.Response:
    """Return an error as both providers word them."""
    noted.closed.set_result(time.monotonic())
    error = {"message": answer.error, "type": "error", "code": None, "param": None}
    return web.json_response(
        {"error": error, "message": answer.error}, status=answer.status, headers=answer.headers
    )


def embed(text: str, dimensions: int | None = None) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return counts of hashed words, normalised: texts that share words are near."""
    vector = np.full(dimensions or DIMENSIONS, 0.01, np.float32)
    for word in text.lower().split():
        vector[zlib.crc32(word.encode()) % len(vector)] += 1
    return vector / np.float32(np.linalg.norm(vector))


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider that listens, and stops after the test."""
    server = Provider()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def untrusted_provider(tmp_path: Path) -> Iterator[Provider]:
    """A provider whose certificate is its own, which nobody trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem, without = serialization.Encoding.PEM, serialization.NoEncryption()
    kept = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, without)
    file = tmp_path / "certificate.pem"
    file.write_bytes(kept + certificate.public_bytes(pem))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    server = Provider(tls)
    server.start()
    yield server
    server.stop()
