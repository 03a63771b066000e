"""Clients that answer within the process of a Django program, without HTTP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.files import File
from django.db import InterfaceError, OperationalError
from django.http import Http404
from pydantic import ValidationError

from chat import runs
from chat.active import RUNS
from chat.announcing import announce
from chat.api import asking, refusing, searching, uploading
from chat.api.credentials import NotAllowedError
from chat.client import stored
from chat.client.base import AsyncClient
from chat.client.errors import BadRequestError, RagError, UnavailableError, of_status
from chat.client.files import one_collection, patience
from chat.client.loop import LoopThread
from chat.client.options import Id, check_metadata
from chat.client.records import Conversation, Document, Passage
from chat.client.sync import SyncClient
from chat.client_messages import Ask
from chat.frames import Frame
from chat.refusals import describe
from chat.runstate import RunRefused
from retrieval.database import in_thread
from retrieval.ingestion import waiting
from retrieval.ingestion.uploads import Upload, UploadError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# How long what is left to be stored may take at the end.
SETTLE_SECONDS = 10.0
REFUSALS = (RunRefused, UploadError, NotAllowedError, Http404, OperationalError, InterfaceError)


class AsyncEmbeddedRagClient(AsyncClient):
    """A client of the site that this process is, as one of its users.

    Answers are written in the event loop that it is used in. What is still being answered when it
    is closed is stopped.
    """

    def __init__(self, user: User) -> None:
        self.user = user
        self._runs: set[UUID] = set()

    async def frames(  # noqa: PLR0913 - what can be said of a question
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
        """Ask, and yield the frames of the answer. Raises RagError where nothing is asked."""
        fields = {
            "type": "ask",
            "text": message,
            "conversation": thread_id,
            "assistant": assistant,
            "model": model_name,
            "settings": settings,
            "generation": generation,
        }
        self._check_loop()
        with told():
            chosen = names_or_keys(collections)
            named = await asking.collection_names(self.user, chosen)
            ask = Ask.model_validate({**fields, "collections": named or None})
            run = await runs.start(self.user, ask)
            await announce(run)
        self._runs.add(run.id)
        async with aclosing(self.resume(run.id)) as frames:
            async for frame in frames:
                yield frame
        self._runs.discard(run.id)

    def _check_loop(self) -> None:
        """Refuse to answer where another loop of this process does."""
        loop = asyncio.get_running_loop()
        if any(active.work.get_loop() is not loop for active in RUNS.values()):
            message = (
                "This process answers in another event loop: use AsyncEmbeddedRagClient there."
            )
            raise UnavailableError(message, code="other_loop")

    async def resume(self, run_id: Id, after: int = 0) -> AsyncGenerator[Frame]:
        """Yield the frames of an answer behind number `after`. Raises RagError."""
        with told():
            async with aclosing(runs.follow(self.user, key(run_id), after)) as frames:
                async for frame in frames:
                    yield frame

    async def stop(self, run_id: Id) -> None:
        """Stop an answer; stopping what has ended is a success. Raises RagError."""
        with told():
            if await runs.stop(self.user, key(run_id)) is None:
                raise Http404

    async def search(
        self,
        query: str,
        *,
        settings: Mapping[str, Any] | None = None,
        collections: Sequence[str] | None = None,
        assistant: str | None = None,
    ) -> list[Passage]:
        """Return the passages that fit, best first. Raises RagError."""
        chosen = names_or_keys(collections)
        with told():
            found = await searching.search(
                self.user, query, settings, collections=chosen, assistant=assistant
            )
        return [stored.passage(hit, found) for hit in found.hits]

    async def upload_all(
        self,
        path: str | Path,
        *,
        collection: str | None = None,
        wait: bool | float = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[Document]:
        """Add a file, or all in an archive, to a collection. Raises RagError.

        Where there is no worker, what is waited for is read here.
        """
        check_metadata(metadata)
        with told():
            taken = await in_thread(self._take, Path(path), collection, metadata)
            if wait:
                versions = [upload.version.pk for upload in taken]
                async with patience(wait):
                    await waiting.wait(versions, lambda stages, chunks: None)
            return [await self.document(upload.document.pk) for upload in taken]

    def _take(
        self, path: Path, collection: str | None, metadata: Mapping[str, Any] | None
    ) -> list[Upload]:
        """Take a file in. Raises UploadError, NotAllowedError, Http404, OSError."""
        if collection is None:
            managed = uploading.managed(self.user, "add_document")
            collection = one_collection(list(managed.values_list("name", flat=True)[:2]))
        target = uploading.target(self.user, name_or_key(collection))
        uploads = []
        with path.open("rb") as file:
            for taken in uploading.add(
                self.user, target, path.name, File(file, path.name), metadata=metadata
            ):
                if taken.error is not None:
                    raise taken.error
                assert taken.upload is not None  # noqa: S101 - either of them is there
                uploads.append(taken.upload)
        return uploads

    async def document(self, document_id: Id) -> Document:
        """Return a document and how far it is. Raises RagError."""
        with told():
            return await in_thread(stored.document, self.user, key(document_id))

    async def conversations(self, limit: int = 50) -> list[Conversation]:
        """Return one's conversations without their messages, newest first. Raises RagError."""
        with told():
            return await in_thread(stored.conversations, self.user, limit)

    async def conversation(self, thread_id: Id) -> Conversation:
        """Return a conversation with its messages. Raises RagError."""
        with told():
            return await in_thread(stored.conversation, self.user, key(thread_id))

    async def delete_conversation(self, thread_id: Id) -> None:
        """Delete a conversation. Raises RagError."""
        with told():
            await in_thread(stored.delete_conversation, self.user, key(thread_id))

    async def aclose(self) -> None:
        """Stop what is still being answered; closing twice is nothing."""
        while self._runs:
            await runs.stop(self.user, self._runs.pop())


class EmbeddedRagClient(SyncClient):
    """A client of the site that this process is, as one of its users.

    All of a process share one thread that answers, which ends when the last one is closed. It is
    for commands, workers and notebooks; the process that serves the site uses
    AsyncEmbeddedRagClient, in its own event loop.
    """

    def __init__(self, user: User) -> None:
        super().__init__(AsyncEmbeddedRagClient(user), _shared.take())
        self._closed = False

    def close(self) -> None:
        """Stop what is still being answered, and store it; closing twice is nothing."""
        if not self._closed:
            self._closed = True
            super().close()
            _shared.leave()


class _SharedThread:
    """The thread that answers, as long as there are clients."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clients = 0
        self._thread: LoopThread | None = None

    def take(self) -> LoopThread:
        """Return the thread, for one client more."""
        with self._lock:
            self._clients += 1
            if self._thread is None:
                self._thread = LoopThread()
            return self._thread

    def leave(self) -> None:
        """Go; the last one ends the thread, with what belongs to its loop."""
        with self._lock:
            self._clients -= 1
            if not self._clients and self._thread is not None:
                self._thread.settle(SETTLE_SECONDS)
                self._thread.close()
                self._thread = None


_shared = _SharedThread()


def key(value: Id) -> UUID:
    """Return an id. Raises Http404 for what can be none."""
    try:
        return UUID(str(value))
    except ValueError as error:
        raise Http404 from error


def name_or_key(collection: str) -> UUID | str:
    """Return what a collection is named by: its id, or its name."""
    try:
        return UUID(collection)
    except ValueError:
        return collection


def names_or_keys(collections: Sequence[str] | None) -> list[UUID | str]:
    """Return what collections are named by; none for all. Raises BadRequestError."""
    if collections is not None and not collections:
        message = "collections is empty: name at least one, or leave it out."
        raise BadRequestError(message, code="invalid", status=422)
    return [name_or_key(each) for each in collections or ()]


@contextmanager
def told() -> Iterator[None]:
    """Turn what the site refuses into RagError, with what a client over HTTP is told."""
    try:
        yield
    except RagError:
        raise
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        code, message = describe(first["type"], str(first["loc"][-1]))
        raise BadRequestError(message, code=code, status=422) from error
    except REFUSALS as error:
        refused = refusing.refusal(error)
        wait = refused.headers.get("Retry-After")
        raise of_status(
            refused.status, refused.message, refused.code, float(wait) if wait else None
        ) from error
