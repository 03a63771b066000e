"""Clients for programs without an event loop: each step of an asynchronous client, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Self, Unpack

from chat.client.base import AsyncClient
from chat.client.events import StreamEvent
from chat.client.http import AsyncRagClient
from chat.client.loop import LoopThread
from chat.client.options import AskOptions, Id, QuestionOptions, SearchOptions, UploadOptions
from chat.client.records import Answer, Conversation, Document, Passage
from chat.frames import Frame


class SyncClient:
    """The interface of both synchronous clients: what AsyncClient does, in plain calls.

    It may be used from any thread, and is its own context manager.
    """

    def __init__(self, client: AsyncClient, thread: LoopThread) -> None:
        self._client = client
        self._thread = thread

    def stream(  # noqa: PLR0913 - what can be said of a question
        self,
        message: str,
        *,
        thread_id: Id | None = None,
        model_name: str | None = None,
        thinking_enabled: bool = True,
        plan_mode: bool = False,
        subagent_enabled: bool = False,
        recursion_limit: int = 100,
        **more: Unpack[QuestionOptions],
    ) -> Iterator[StreamEvent]:
        """Ask, and yield events up to `end`, as AsyncClient.stream does. Raises RagError."""
        events = self._client.stream(
            message,
            thread_id=thread_id,
            model_name=model_name,
            thinking_enabled=thinking_enabled,
            plan_mode=plan_mode,
            subagent_enabled=subagent_enabled,
            recursion_limit=recursion_limit,
            **more,
        )
        return self._thread.iterate(events)

    def frames(self, message: str, **options: Unpack[AskOptions]) -> Iterator[Frame]:
        """Ask, and yield frames, as AsyncClient.frames does. Raises RagError."""
        return self._thread.iterate(self._client.frames(message, **options))

    def resume(self, run_id: Id, after: int = 0) -> Iterator[Frame]:
        """Yield the frames of an answer behind number `after`. Raises RagError."""
        return self._thread.iterate(self._client.resume(run_id, after))

    def ask(self, message: str, **options: Unpack[AskOptions]) -> Answer:
        """Return an answer when it has ended. Raises AnswerFailedError, RagError."""
        return self._thread.run(self._client.ask(message, **options))

    def stop(self, run_id: Id) -> None:
        """Stop an answer; stopping what has ended is a success. Raises RagError."""
        self._thread.run(self._client.stop(run_id))

    def search(self, query: str, **options: Unpack[SearchOptions]) -> list[Passage]:
        """Return the passages that fit, best first. Raises RagError."""
        return self._thread.run(self._client.search(query, **options))

    def upload(self, path: str | Path, **options: Unpack[UploadOptions]) -> Document:
        """Add a file, as AsyncClient.upload does. Raises DocumentFailedError, RagError."""
        return self._thread.run(self._client.upload(path, **options))

    def upload_all(self, path: str | Path, **options: Unpack[UploadOptions]) -> list[Document]:
        """Add a file, or each file of an archive, as `upload` does. Raises RagError."""
        return self._thread.run(self._client.upload_all(path, **options))

    def document(self, document_id: Id) -> Document:
        """Return a document and how far it is. Raises RagError."""
        return self._thread.run(self._client.document(document_id))

    def conversations(self, limit: int = 50) -> list[Conversation]:
        """Return one's conversations without their messages, newest first. Raises RagError."""
        return self._thread.run(self._client.conversations(limit))

    def conversation(self, thread_id: Id) -> Conversation:
        """Return a conversation with its messages. Raises RagError."""
        return self._thread.run(self._client.conversation(thread_id))

    def delete_conversation(self, thread_id: Id) -> None:
        """Delete a conversation. Raises RagError."""
        self._thread.run(self._client.delete_conversation(thread_id))

    def close(self) -> None:
        """Let go of what is open; closing twice is nothing."""
        self._thread.run(self._client.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RagClient(SyncClient):
    """A client of a site over HTTP."""

    def __init__(self, base_url: str, token: str, *, timeout: float = 60.0) -> None:
        """Speak to the site at `base_url` with an API token; `timeout` is in seconds."""
        super().__init__(AsyncRagClient(base_url, token, timeout=timeout), LoopThread())

    def close(self) -> None:
        """Close its connections and its thread; closing twice is nothing."""
        if not self._thread.is_closed:
            super().close()
            self._thread.close()
