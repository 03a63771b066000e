"""The client that speaks to a site over HTTP, in an event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from chat.client.base import AsyncClient
from chat.client.connection import Connection
from chat.client.files import one_collection, patience, within
from chat.client.following import follow
from chat.client.options import Id, check_metadata
from chat.client.records import Conversation, Document, Passage
from chat.frames import Frame

# How long the site waits for a document before it says how far it is.
WAIT_SECONDS = 20
PAGE = 100


class AsyncRagClient(AsyncClient):
    """A client of a site over HTTP."""

    def __init__(self, base_url: str, token: str, *, timeout: float = 60.0) -> None:
        """Speak to the site at `base_url` with an API token; `timeout` is in seconds."""
        self._site = Connection(base_url, token, timeout)

    def frames(  # noqa: PLR0913 - what can be said of a question
        self,
        message: str,
        *,
        thread_id: Id | None = None,
        assistant: str | None = None,
        model_name: str | None = None,
        collections: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        generation: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Frame]:
        """Ask, and yield the frames of the answer, whatever becomes of connections."""
        said = {
            "text": message,
            "conversation": None if thread_id is None else str(thread_id),
            "assistant": assistant,
            "model": model_name,
            "collections": None if collections is None else list(collections),
            "settings": settings,
            "generation": generation,
            # Sent again, it is the same question.
            "id": uuid4().hex,
        }
        body = {name: value for name, value in said.items() if value is not None}

        def connect(run: UUID | None, after: int) -> AsyncGenerator[Frame]:
            if run is None:
                return self._site.frames("POST", "runs", body=body)
            return self._behind(run, after)

        return follow(connect)

    def resume(self, run_id: Id, after: int = 0) -> AsyncGenerator[Frame]:
        """Yield the frames of an answer behind number `after`. Raises RagError."""
        return follow(lambda _, seen: self._behind(run_id, seen), after=after)

    def _behind(self, run: Id, after: int) -> AsyncGenerator[Frame]:
        return self._site.frames("GET", f"runs/{run}/events", after=after)

    async def stop(self, run_id: Id) -> None:
        """Stop an answer; stopping what has ended is a success. Raises RagError."""
        await self._site.call("POST", f"runs/{run_id}/stop")

    async def search(
        self,
        query: str,
        *,
        settings: Mapping[str, Any] | None = None,
        collections: Sequence[str] | None = None,
        assistant: str | None = None,
    ) -> list[Passage]:
        """Return the passages that fit, best first. Raises RagError."""
        body = {
            "query": query,
            "settings": settings,
            "collections": None if collections is None else list(collections),
            "assistant": assistant,
        }
        found = await self._site.call("POST", "search", json=body)
        return [Passage.model_validate(each) for each in found["results"]]

    async def upload_all(
        self,
        path: str | Path,
        *,
        collection: str | None = None,
        wait: bool | float = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[Document]:
        """Add a file, or all in an archive, to a collection. Raises RagError."""
        check_metadata(metadata)
        path = Path(path)
        form = {
            "collection": collection or await self._only_collection(),
            "metadata": json.dumps(dict(metadata or {})),
        }
        content = await asyncio.to_thread(path.read_bytes)
        taken = await self._site.call(
            "POST",
            "documents",
            data=form,
            files={"files": (path.name, content)},
            headers={"Idempotency-Key": uuid4().hex},
        )
        ids = [within(path, each)["id"] for each in taken["items"]]
        if not wait:
            return [await self.document(each) for each in ids]
        async with patience(wait):
            return [await self._ended(each) for each in ids]

    async def _only_collection(self) -> str:
        found = await self._site.call("GET", "collections", params={"limit": PAGE})
        return one_collection([each["id"] for each in found["items"] if each["may_manage"]])

    async def _ended(self, document: Id) -> Document:
        while True:
            found = await self._document(document, WAIT_SECONDS)
            if found.has_ended:
                return found

    async def document(self, document_id: Id) -> Document:
        """Return a document and how far it is. Raises RagError."""
        return await self._document(document_id, 0)

    async def _document(self, key: Id, wait: int) -> Document:
        found = await self._site.call("GET", f"documents/{key}", params={"wait": wait})
        return Document.model_validate(found)

    async def conversations(self, limit: int = 50) -> list[Conversation]:
        """Return one's conversations without their messages, newest first. Raises RagError."""
        found: list[Conversation] = []
        params: dict[str, Any] = {"limit": min(limit, PAGE)}
        async for item in self._site.items("conversations", params):
            if len(found) == limit:
                break
            found.append(Conversation.model_validate(item))
        return found

    async def conversation(self, thread_id: Id) -> Conversation:
        """Return a conversation with its messages. Raises RagError."""
        found = await self._site.call("GET", f"conversations/{thread_id}")
        return Conversation.model_validate(found)

    async def delete_conversation(self, thread_id: Id) -> None:
        """Delete a conversation. Raises RagError."""
        await self._site.call("DELETE", f"conversations/{thread_id}")

    async def aclose(self) -> None:
        """Close all connections; closing twice is nothing."""
        await self._site.aclose()
