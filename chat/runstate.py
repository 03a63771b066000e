"""The stored state of runs: created, leased by a process, ended."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from chat.frames import (
    CitationData,
    Done,
    Error,
    FinishReason,
    Frame,
    FrameAdapter,
    Snapshot,
    Usage,
)
from chat.models import ACTIVE, Conversation, Message, Run, RunFrame, RunState
from retrieval import backends

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.models import Citation

TITLE_CHARS = 80
# A token has about four letters. What only quotes the documents takes none.
INTERRUPTED = """
UPDATE limits_charge AS charge SET tokens = CASE WHEN %(prompt)s > 0 AND answer.text <> ''
  THEN %(prompt)s + (length(question.text) + length(answer.text)) / 4 ELSE 0 END
FROM chat_run AS run, chat_message AS question, chat_message AS answer
WHERE charge.run = run.id AND charge.tokens IS NULL AND run.state = 'interrupted'
  AND question.id = run.question_id AND answer.id = run.answer_id
"""

# Frames of an ended run can be replayed for this long; later its reader gets a snapshot.
FRAMES_KEPT_SECONDS = 3600.0


class RunRefused(Exception):  # noqa: N818 - not an error of ours
    """A request that starts no run; `code` and `message` are for the client.

    `retry_in_ms` says when the same may succeed, 0 where that is not known.
    """

    def __init__(
        self, code: str, message: str, *, recoverable: bool = False, retry_in_ms: int = 0
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.recoverable = recoverable
        self.retry_in_ms = retry_in_ms

    def frame(self, ask: str | None = None) -> Error:
        """Return it as a frame of no run; `ask` is the client's id of the question."""
        return Error(
            code=self.code,
            message=self.message,
            recoverable=self.recoverable,
            retry_in_ms=self.retry_in_ms,
            ask=ask,
        )


def lease() -> datetime:
    """Return when a lease taken now runs out."""
    return timezone.now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)


def renew_leases(owner: str, runs: list[UUID]) -> dict[UUID, bool]:
    """Extend the leases of a process's runs; return whether somebody asked to stop each.

    A run that is not among them was deleted.
    """
    mine = Run.objects.filter(owner=owner, id__in=runs)
    mine.filter(state__in=ACTIVE).update(lease_expires_at=lease())
    return {run: at is not None for run, at in mine.values_list("id", "stop_requested_at")}


def interrupt_expired(conversation: UUID | None = None) -> int:
    """Mark runs interrupted whose process has not renewed its lease; return how many."""
    expired = Run.objects.filter(state__in=ACTIVE, lease_expires_at__lt=timezone.now())
    if conversation:
        expired = expired.filter(conversation=conversation)
    ended = expired.update(
        state=RunState.INTERRUPTED,
        error_code="interrupted",
        error_message=interrupted_message(),
        finished_at=timezone.now(),
    )
    if ended:
        _charge_interrupted()
    return ended


def _charge_interrupted() -> None:
    """Charge for answers whose processes ended without a word, by what was saved of them."""
    prompt = 0 if backends.generator().quotes_only else settings.CONTEXT_TOKENS
    with connection.cursor() as cursor:
        cursor.execute(INTERRUPTED, {"prompt": prompt})


def interrupted_message() -> str:
    """Say that the process that answered is gone."""
    return gettext("The answer was interrupted. You can ask again.")


def unavailable_message() -> str:
    """Say that PostgreSQL is away."""
    return gettext("The database cannot be reached. Please try again in a moment.")


def outcome(
    run: UUID, state: RunState, ending: Done | Error, model: str, tokens: int = 0
) -> dict[str, object]:
    """Return how a run ended, as columns of its row, and the tokens that are charged for it."""
    columns: dict[str, object] = {"run": run, "state": state, "model": model, "tokens": tokens}
    if isinstance(ending, Done):
        done = {"finish_reason": ending.finish_reason, "usage": ending.usage.model_dump()}
        return {**columns, **done, "timings": ending.timings, "error_code": "", "error_message": ""}
    error = {"error_code": ending.code, "error_message": ending.message}
    return {**columns, **error, "finish_reason": "", "usage": {}, "timings": {}}


def request_stop(user: User, run: UUID | None = None, ask: str | None = None) -> Run | None:
    """Ask a run's process to stop it; None if the user has no such run."""
    wanted = Q(id=run) if run else Q(ask_id=ask)
    found = Run.objects.filter(wanted, user=user).first()
    if found and found.state in ACTIVE and not found.stop_requested_at:
        Run.objects.filter(id=found.id).update(stop_requested_at=timezone.now())
    return found


def active_in(user: User, conversation: UUID) -> list[UUID]:
    """Return the active runs of the user's conversation, oldest first. Raises RunRefused."""
    if not Conversation.objects.filter(id=conversation, user=user).exists():
        raise RunRefused("not_found", gettext("There is no such conversation."))
    interrupt_expired(conversation)
    running = Run.objects.filter(conversation=conversation, state__in=ACTIVE)
    return list(running.order_by("created_at", "id").values_list("id", flat=True))


def read_by(run: UUID) -> None:
    """Note that somebody in this process reads a run of another process."""
    Run.objects.filter(id=run).update(read_at=timezone.now())


def was_read_within(run: UUID, seconds: float) -> bool:
    """Whether a reader in another process was there in the last `seconds`."""
    since = timezone.now() - timedelta(seconds=seconds)
    return Run.objects.filter(id=run, read_at__gt=since).exists()


def forget_frames() -> int:
    """Delete the frames of runs that ended long ago; their answers stay. Return how many."""
    ended_before = timezone.now() - timedelta(seconds=FRAMES_KEPT_SECONDS)
    return RunFrame.objects.filter(run__finished_at__lt=ended_before).delete()[0]


def stored_frames(run: UUID, after: int) -> list[Frame]:
    """Return the stored frames of a run behind number `after`, in order."""
    stored = RunFrame.objects.filter(run=run, seq__gt=after).order_by("seq")
    return [FrameAdapter.validate_python(frame.payload) for frame in stored]


def snapshot(run: Run) -> list[Frame]:
    """Return the frames that bring a client up to an ended run whatever it has."""
    message = Message.objects.get(id=run.answer_id)
    stored = message.citations.select_related("version").defer("version__text")
    citations = [citation_data(citation) for citation in stored]
    last = RunFrame.objects.filter(run=run).order_by("-seq").first()
    seq = last.seq if last else 1
    if last and last.payload["type"] in ("done", "error"):
        seq -= 1  # the end keeps its number
    whole = Snapshot(run=run.id, seq=seq, text=message.text, citations=citations)
    return [whole, ending_of(run, message.text, citations).numbered(run.id, seq + 1)]


def citation_data(citation: Citation) -> CitationData:
    """Return a stored citation as frames have it."""
    version = citation.version
    return CitationData(
        index=citation.index,
        source_id=str(citation.chunk_id or ""),
        document_id=str(version.document_id) if version else "",
        title=citation.title,
        page=citation.page,
        quote=citation.quote,
        place=citation.place,
        span=(citation.span_start, citation.span_end),
        support=citation.support or None,  # type: ignore[arg-type]
    )


def ending_of(run: Run, text: str, citations: list[CitationData]) -> Done | Error:
    """Return the terminal frame that a stored run's state stands for."""
    if run.state in (RunState.COMPLETED, RunState.CANCELLED):
        reason: FinishReason = run.finish_reason or "stop"  # type: ignore[assignment]
        return Done(
            message_id=run.answer_id,
            finish_reason=reason,
            answer=text,
            citations=citations,
            usage=Usage(**run.usage),
            timings=run.timings,
            without_sources=run.without_sources,
        )
    return Error(
        code=run.error_code or "interrupted",
        message=run.error_message or interrupted_message(),
        recoverable=True,
    )
