"""The stored state of runs: created, leased by a process, ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext

from chat.answering.pipeline import Question
from chat.frames import (
    Ask,
    CitationData,
    Done,
    Error,
    FinishReason,
    Frame,
    FrameAdapter,
    Snapshot,
    Usage,
)
from chat.models import ACTIVE, Assistant, Conversation, Message, Role, Run, RunFrame, RunState
from retrieval import search
from retrieval.backends.base import ChatMessage
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TITLE_CHARS = 80


class RunRefused(Exception):  # noqa: N818 - not an error of ours
    """A request that starts no run; `code` and `message` are for the client."""

    def __init__(self, code: str, message: str, *, recoverable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.recoverable = recoverable


@dataclass(frozen=True)
class NewRun:
    """A run as it was stored, with what its answer may draw on; `question` is None for a repeat."""

    run: Run
    question: Question | None


def create(user: User, ask: Ask, owner: str) -> NewRun:
    """Save the question and its run, before anything else happens.

    The same ask id sent twice gives the run of the first. Raises RunRefused.
    """
    if ask.id and (run := Run.objects.filter(user=user, ask_id=ask.id).first()):
        return NewRun(run, None)
    assistant = find_assistant(ask.assistant)
    collections = find_collections(user, ask.collections, assistant)
    question_settings = search_settings(assistant, ask.settings)
    if ask.conversation:
        interrupt_expired(conversation=ask.conversation)
    try:
        with transaction.atomic():
            conversation = open_conversation(user, ask, assistant)
            history = read_history(conversation)
            asked = Message.objects.create(conversation=conversation, role=Role.USER, text=ask.text)
            run = Run.objects.create(
                conversation=conversation,
                user=user,
                question=asked,
                answer=Message.objects.create(conversation=conversation, role=Role.ASSISTANT),
                ask_id=ask.id,
                state=RunState.RUNNING,
                owner=owner,
                lease_expires_at=lease(),
                model=ask.model or "",
                settings=question_settings.model_dump(mode="json", exclude_defaults=True),
            )
    except IntegrityError as error:
        if ask.id and (run := Run.objects.filter(user=user, ask_id=ask.id).first()):
            return NewRun(run, None)
        raise RunRefused(
            "busy",
            gettext("This conversation is still answering. Wait for the answer, or stop it."),
            recoverable=True,
        ) from error
    question = Question(
        text=ask.text,
        scope=search.Scope(user, collections),
        history=history,
        instructions=assistant.instructions if assistant else "",
        settings=question_settings,
        model=ask.model,
    )
    return NewRun(run, question)


def find_assistant(name: str | None) -> Assistant | None:
    """Return the assistant of that name, or the default one. Raises RunRefused."""
    if not name:
        return Assistant.objects.filter(is_default=True).first()
    if assistant := Assistant.objects.filter(name=name).first():
        return assistant
    raise RunRefused("unknown_assistant", gettext("There is no assistant of that name."))


def find_collections(
    user: User, names: list[str] | None, assistant: Assistant | None
) -> tuple[UUID, ...] | None:
    """Return the ids of the collections to search, None for all. Raises RunRefused."""
    if names:
        found = dict(
            Collection.objects.visible_to(user).filter(name__in=names).values_list("name", "id")
        )
        if missing := [name for name in names if name not in found]:
            raise RunRefused(
                "unknown_collection",
                gettext("There is no collection “{name}”.").format(name=missing[0]),
            )
        return tuple(found.values())
    chosen = assistant.collections.values_list("id", flat=True) if assistant else ()
    return tuple(chosen) or None


def search_settings(
    assistant: Assistant | None, asked: dict[str, object] | None
) -> search.SearchSettings:
    """Return the assistant's search settings with the question's own over them.

    Raises RunRefused that names the field.
    """
    merged = {**(assistant.search_settings if assistant else {}), **(asked or {})}
    try:
        return search.SearchSettings.parse(merged)
    except search.SearchSettingsError as error:
        raise RunRefused("bad_settings", str(error)) from error


def open_conversation(user: User, ask: Ask, assistant: Assistant | None) -> Conversation:
    """Return the conversation asked for, or a new one named after the question.

    Raises RunRefused for one that is not there or somebody else's.
    """
    if ask.conversation is None:
        title = Truncator(" ".join(ask.text.split())).chars(TITLE_CHARS)
        return Conversation.objects.create(user=user, assistant=assistant, title=title)
    try:
        conversation = Conversation.objects.get(id=ask.conversation, user=user)
    except Conversation.DoesNotExist as error:
        raise RunRefused("not_found", gettext("There is no such conversation.")) from error
    conversation.save(update_fields=["updated_at"])
    return conversation


def read_history(conversation: Conversation) -> list[ChatMessage]:
    """Return the conversation so far, oldest first, empty answers left out."""
    return [
        ChatMessage("user" if message.role == Role.USER else "assistant", message.text)
        for message in conversation.messages.all()
        if message.text
    ]


def lease() -> datetime:
    """Return when a lease taken now runs out."""
    return timezone.now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)


def renew_leases(owner: str, runs: list[UUID]) -> list[UUID]:
    """Extend the leases of a process's runs; return those somebody asked to stop."""
    mine = Run.objects.filter(owner=owner, id__in=runs, state__in=ACTIVE)
    mine.update(lease_expires_at=lease())
    return list(mine.filter(stop_requested_at__isnull=False).values_list("id", flat=True))


def interrupt_expired(conversation: UUID | None = None) -> int:
    """Mark runs interrupted whose process has not renewed its lease; return how many."""
    expired = Run.objects.filter(state__in=ACTIVE, lease_expires_at__lt=timezone.now())
    if conversation:
        expired = expired.filter(conversation=conversation)
    return expired.update(
        state=RunState.INTERRUPTED,
        error_code="interrupted",
        error_message=interrupted_message(),
        finished_at=timezone.now(),
    )


def interrupted_message() -> str:
    """Say that the process that answered is gone."""
    return gettext("The answer was interrupted. You can ask again.")


def finish(run: UUID, state: RunState, ending: Done | Error, model: str) -> None:
    """Store how a run ended."""
    values: dict[str, object] = {"state": state, "finished_at": timezone.now(), "model": model}
    if isinstance(ending, Done):
        values["finish_reason"] = ending.finish_reason
        values["usage"] = ending.usage.model_dump()
        values["timings"] = ending.timings
    else:
        values["error_code"] = ending.code
        values["error_message"] = ending.message
    Run.objects.filter(id=run, state__in=ACTIVE).update(**values)


def request_stop(user: User, run: UUID | None = None, ask: str | None = None) -> Run | None:
    """Ask a run's process to stop it; None if the user has no such run."""
    wanted = Q(id=run) if run else Q(ask_id=ask)
    found = Run.objects.filter(wanted, user=user).first()
    if found and found.state in ACTIVE and not found.stop_requested_at:
        Run.objects.filter(id=found.id).update(stop_requested_at=timezone.now())
    return found


def active_in(user: User, conversation: UUID) -> UUID | None:
    """Return the active run of the user's conversation. Raises RunRefused if there is no such."""
    if not Conversation.objects.filter(id=conversation, user=user).exists():
        raise RunRefused("not_found", gettext("There is no such conversation."))
    interrupt_expired(conversation)
    running = Run.objects.filter(conversation=conversation, state__in=ACTIVE)
    return running.values_list("id", flat=True).first()


def read_by(run: UUID) -> None:
    """Note that somebody in this process reads a run of another process."""
    Run.objects.filter(id=run).update(read_at=timezone.now())


def was_read_within(run: UUID, seconds: float) -> bool:
    """Whether a reader in another process was there in the last `seconds`."""
    since = timezone.now() - timedelta(seconds=seconds)
    return Run.objects.filter(id=run, read_at__gt=since).exists()


def stored_frames(run: UUID, after: int) -> list[Frame]:
    """Return the stored frames of a run behind number `after`, in order."""
    stored = RunFrame.objects.filter(run=run, seq__gt=after).order_by("seq")
    return [FrameAdapter.validate_python(frame.payload) for frame in stored]


def snapshot(run: Run) -> list[Frame]:
    """Return the frames that bring a client up to an ended run whatever it has."""
    message = Message.objects.get(id=run.answer_id)
    citations = [
        CitationData(
            index=citation.index,
            source_id=str(citation.chunk_id or ""),
            document_id=str(citation.version.document_id) if citation.version else "",
            title=citation.title,
            page=citation.page,
            quote=citation.quote,
            span=(citation.span_start, citation.span_end),
        )
        for citation in message.citations.select_related("version").defer("version__text")
    ]
    last = RunFrame.objects.filter(run=run).order_by("-seq").values_list("seq", flat=True).first()
    seq = last or 1
    whole = Snapshot(run=run.id, seq=seq, text=message.text, citations=citations)
    return [whole, ending_of(run, message.text, citations).numbered(run.id, seq + 1)]


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
        )
    return Error(
        code=run.error_code or "interrupted",
        message=run.error_message or interrupted_message(),
        recoverable=True,
    )
