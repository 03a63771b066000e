"""The numbered frames of a run: in memory for readers of its own process, in the database for all.

Everything is saved in batches, at most RUN_SAVE_SECONDS behind: the frames, the answer's text, its
citations, and what retrieval found.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction

from chat.frames import (
    TERMINAL,
    Citation,
    CitationData,
    Done,
    Error,
    Frame,
    SearchResults,
    Token,
)
from chat.models import Candidate, Message, RunFrame
from chat.models import Citation as StoredCitation
from retrieval.database import in_thread
from retrieval.models import Chunk

logger = logging.getLogger(__name__)

SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")


class RunLog:
    """Numbers the frames of one run, keeps them for readers, and saves them as they come."""

    def __init__(
        self, run: UUID, answer: UUID, observe: Callable[[Frame], None] = lambda _: None
    ) -> None:
        """Tell `observe` of each frame as it becomes visible."""
        self.run = run
        self.answer = answer
        self._observe = observe
        self.frames: list[Frame] = []
        self.text = ""
        self.citations: list[CitationData] = []
        self._saved = 0
        self._saving = asyncio.Lock()
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()
        self._coalescer = Coalescer(self._append)

    def add(self, frame: Frame) -> None:
        """Take the next frame; tokens may wait a moment to share a frame."""
        self._coalescer.add(frame)

    def flush(self) -> None:
        """Let readers see the tokens that wait to share a frame."""
        self._coalescer.flush()

    async def end(self, frame: Done | Error, record: Callable[[], None]) -> None:
        """Save everything, `frame` too, and call `record`, in one transaction; then show the end.

        Raises DatabaseError if it could not be saved; readers see the end all the same.
        """
        self.flush()
        last = frame.numbered(self.run, len(self.frames) + 1)
        try:
            await self.save(last, record)
        finally:
            self._append(last)
            self._ended.set()

    def _append(self, frame: Frame) -> None:
        self.frames.append(frame if frame.seq else frame.numbered(self.run, len(self.frames) + 1))
        if isinstance(frame, Token):
            self.text += frame.text
        elif isinstance(frame, Citation):
            self.citations.append(citation_data(frame))
        self._observe(frame)
        self._changed.set()
        self._changed = asyncio.Event()

    async def follow(self, after: int) -> AsyncGenerator[Frame]:
        """Yield the frames behind number `after`, then live ones, up to the terminal frame."""
        position = after
        while True:
            while position < len(self.frames):
                frame = self.frames[position]
                position += 1
                yield frame
                if isinstance(frame, TERMINAL):
                    return
            await self._changed.wait()

    async def save_as_it_grows(self) -> None:
        """Save until the run ends; what fails to be saved is tried again with the next batch."""
        while not self._ended.is_set():
            # What came while the last batch was saved is no change to come.
            if self._saved == len(self.frames):
                await self._changed.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), settings.RUN_SAVE_SECONDS)
                return
            try:
                await self.save()
            except DatabaseError:
                logger.exception("Run %s: could not save its frames", self.run)

    async def save(
        self, ending: Frame | None = None, record: Callable[[], None] = lambda: None
    ) -> None:
        """Save what is new, and the end if there is one. Raises DatabaseError."""
        async with self._saving:
            upto = len(self.frames)
            batch = [*self.frames[self._saved : upto], *([ending] if ending else [])]
            if batch:
                count = len(self.citations)
                await in_thread(store, self.run, self.answer, self.text, count, batch, record)
                # The end is saved before readers see it, so it is not among the frames yet.
                self._saved = upto + (1 if ending else 0)


class Coalescer:
    """Joins tokens that arrive close together; the first goes out at once, a sentence's end too."""

    def __init__(self, emit: Callable[[Frame], None]) -> None:
        self._emit = emit
        self._held: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, frame: Frame) -> None:
        """Take a frame; anything but a token goes out at once, behind the tokens before it."""
        if not isinstance(frame, Token):
            self.flush()
            self._emit(frame)
        elif self._timer is None:
            self._emit(frame)
            self._wait()
        else:
            self._held.append(frame.text)
            if frame.text.rstrip().endswith(SENTENCE_ENDS):
                self.flush()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(settings.TOKEN_FRAME_SECONDS, self._elapsed)

    def _elapsed(self) -> None:
        self._timer = None
        if self._held:
            self._emit_held()
            self._wait()

    def flush(self) -> None:
        """Let out what is held."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held:
            self._emit_held()

    def _emit_held(self) -> None:
        text, self._held = "".join(self._held), []
        self._emit(Token(text=text))


def citation_data(frame: Citation) -> CitationData:
    """Return what of a citation frame goes into the answer's list of citations."""
    return CitationData(**frame.model_dump(include=set(CitationData.model_fields)))


def store(  # noqa: PLR0913, PLR0917 - one write, made of all that a batch changes
    run: UUID,
    answer: UUID,
    text: str,
    citations: int,
    batch: Sequence[Frame],
    record: Callable[[], None] = lambda: None,
) -> None:
    """Write a batch of frames and what they say, in one transaction.

    `citations` is how many the answer has with this batch.
    """
    new = [frame for frame in batch if isinstance(frame, Citation)]
    with transaction.atomic():
        RunFrame.objects.bulk_create(
            RunFrame(run_id=run, seq=frame.seq, payload=frame.model_dump(mode="json"))
            for frame in batch
        )
        if any(isinstance(frame, Token) for frame in batch):
            Message.objects.filter(id=answer).update(text=text)
        store_citations(answer, citations - len(new), new)
        for frame in batch:
            if isinstance(frame, SearchResults):
                store_candidates(run, frame)
        record()


def store_citations(answer: UUID, first: int, frames: Sequence[Citation]) -> None:
    """Write citations, numbered from `first`; a chunk that is gone by now leaves its quote."""
    versions = dict(
        Chunk.objects.filter(id__in={frame.source_id for frame in frames}).values_list(
            "id", "version_id"
        )
    )
    StoredCitation.objects.bulk_create(
        StoredCitation(
            message_id=answer,
            ordinal=ordinal,
            index=frame.index,
            chunk_id=UUID(frame.source_id) if UUID(frame.source_id) in versions else None,
            version_id=versions.get(UUID(frame.source_id)),
            title=frame.title,
            page=frame.page,
            quote=frame.quote,
            span_start=frame.span[0],
            span_end=frame.span[1],
        )
        for ordinal, frame in enumerate(frames, first)
    )


def store_candidates(run: UUID, frame: SearchResults) -> None:
    """Write what retrieval found, as it was ranked."""
    known = set(
        Chunk.objects.filter(id__in=[source.source_id for source in frame.results]).values_list(
            "id", flat=True
        )
    )
    Candidate.objects.bulk_create(
        Candidate(
            run_id=run,
            rank=rank,
            index=source.index,
            chunk_id=UUID(source.source_id) if UUID(source.source_id) in known else None,
            title=source.title,
            page=source.page,
            snippet=source.snippet,
            scores=source.scores,
        )
        for rank, source in enumerate(frame.results, 1)
    )
