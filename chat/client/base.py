"""What a client can do, whether it speaks HTTP or answers in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Self, Unpack
from uuid import UUID

from chat.client.errors import AnswerFailedError, NotAllowedError, RagError
from chat.client.events import Events, StreamEvent
from chat.client.files import check_single
from chat.client.options import (
    AskOptions,
    Id,
    QuestionOptions,
    SearchOptions,
    UploadOptions,
    check_agent_options,
)
from chat.client.records import Answer, Conversation, Document, Passage
from chat.frames import TERMINAL, Done, Error, Frame, SearchResults, Status, Token


class AsyncClient(ABC):
    """The interface of both asynchronous clients; a client is also its context manager."""

    @abstractmethod
    def frames(self, message: str, **options: Unpack[AskOptions]) -> AsyncGenerator[Frame]:
        """Ask, and yield the frames of the answer, each once; the last is `done` or `error`.

        A generator that is closed early leaves the answer to its grace period, in which `resume`
        can go on. Raises RagError where nothing is asked.
        """

    @abstractmethod
    def resume(self, run_id: Id, after: int = 0) -> AsyncGenerator[Frame]:
        """Yield the frames of an answer behind number `after`. Raises RagError."""

    @abstractmethod
    async def stop(self, run_id: Id) -> None:
        """Stop an answer; stopping what has ended is a success. Raises RagError."""

    @abstractmethod
    async def search(self, query: str, **options: Unpack[SearchOptions]) -> list[Passage]:
        """Return the passages that fit, best first. Raises RagError."""

    @abstractmethod
    async def upload_all(
        self, path: str | Path, **options: Unpack[UploadOptions]
    ) -> list[Document]:
        """Add a file, or each file of an archive, as `upload` does; none of them is checked.

        Raises RagError.
        """

    async def upload(self, path: str | Path, **options: Unpack[UploadOptions]) -> Document:
        """Add a file to a collection, and with `wait` return when questions find it.

        It waits as long as that takes, or so many seconds. A collection is named by its name or
        its id; without one it is the one that may be added to, if there is only one. Raises
        DocumentFailedError if the file cannot be read, RagError.
        """
        check_single(Path(path))
        (document,) = await self.upload_all(path, **options)
        return document.checked() if options.get("wait", True) else document

    @abstractmethod
    async def document(self, document_id: Id) -> Document:
        """Return a document and how far it is. Raises RagError."""

    @abstractmethod
    async def conversations(self, limit: int = 50) -> list[Conversation]:
        """Return one's conversations without their messages, newest first. Raises RagError."""

    @abstractmethod
    async def conversation(self, thread_id: Id) -> Conversation:
        """Return a conversation with its messages. Raises RagError."""

    @abstractmethod
    async def delete_conversation(self, thread_id: Id) -> None:
        """Delete a conversation. Raises RagError."""

    @abstractmethod
    async def aclose(self) -> None:
        """Let go of what is open; closing twice is nothing."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

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
    ) -> AsyncGenerator[StreamEvent]:
        """Ask, and yield events up to `end`, which is always the last.

        `thread_id` is a conversation; without one it is a new one, which `end` names. `more` are
        the other parameters of `frames`. An answer that breaks off has an event `error` before
        its end. A generator that is closed early stops the answer. Raises RagError where nothing
        is asked; NotAvailableError, which is a ValueError, for options that need an agent.
        """
        check_agent_options(recursion_limit, plan_mode=plan_mode, subagent_enabled=subagent_enabled)
        frames = self.frames(message, thread_id=thread_id, model_name=model_name, **more)
        return self._events(message, frames, Events(thinking=thinking_enabled))

    async def ask(self, message: str, **options: Unpack[AskOptions]) -> Answer:
        """Return the answer to a question when it has ended; the options are those of `frames`.

        Raises AnswerFailedError if it breaks off, RagError.
        """
        answer = Answer()
        async with aclosing(self.frames(message, **options)) as frames:
            async for frame in frames:
                match frame:
                    case Status() if frame.answer is not None:
                        answer.thread_id, answer.run_id = str(frame.conversation), str(frame.run)
                    case SearchResults():
                        answer.sources = frame.results
                    case Token():
                        answer.text += frame.text
                    case Done():
                        answer.text, answer.citations = frame.answer, frame.citations
                        answer.finish_reason = frame.finish_reason
                    case Error():
                        raise AnswerFailedError(frame.message, code=frame.code, text=answer.text)
        return answer

    async def _events(
        self, message: str, frames: AsyncGenerator[Frame], events: Events
    ) -> AsyncGenerator[StreamEvent]:
        run: UUID | None = None
        try:
            async with aclosing(frames):
                async for frame in frames:
                    if isinstance(frame, Status) and frame.answer is not None:
                        run = frame.run
                        events.begin(frame, message)
                        await self._look_back(events, frame)
                        yield events.values()
                    if isinstance(frame, TERMINAL):
                        run = None
                    for event in events.take(frame):
                        yield event
        except RagError as error:
            if events.first is None:
                raise
            lost = Error(code=error.code, message=error.message, recoverable=True)
            for event in events.take(lost):
                yield event
        finally:
            if run is not None:
                with suppress(RagError):
                    await self.stop(run)

    async def _look_back(self, events: Events, first: Status) -> None:
        """Read what was said before; a token that may not does without."""
        assert first.conversation is not None  # noqa: S101 - it is where the question is
        try:
            found = await self.conversation(first.conversation)
        except NotAllowedError:
            return
        events.know(found.title, [message.to_event() for message in found.messages])
