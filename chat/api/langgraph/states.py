"""The states of threads: what was said in a conversation, after each of its runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Prefetch

from chat import runstate
from chat.api.langgraph import messages
from chat.api.langgraph.events import NODE
from chat.api.langgraph.messages import Message
from chat.frames import Done
from chat.models import ACTIVE, Candidate, Citation, Conversation, Role, Run, RunState
from chat.models import Message as Stored
from chat.redaction import redact_messages

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = dict[str, Any]

STATUSES = {
    RunState.QUEUED: "pending",
    RunState.RUNNING: "running",
    RunState.COMPLETED: "success",
    RunState.CANCELLED: "interrupted",
    RunState.FAILED: "error",
    RunState.INTERRUPTED: "error",
}
# What of a run's metadata is not its client's.
OWN = "_langgraph"


def of_threads(user: User, threads: Collection[UUID]) -> dict[UUID, list[State]]:
    """Return the states of conversations, the newest last, as `user` may see them."""
    said: dict[UUID, list[Stored]] = {thread: [] for thread in threads}
    for message in _messages(user, threads):
        said[message.conversation_id].append(message)
    return {thread: _states(each) for thread, each in said.items()}


def of_thread(user: User, thread: UUID) -> list[State]:
    """Return the states of a conversation, the newest last, as `user` may see them."""
    return of_threads(user, [thread])[thread]


def before_answer(user: User, run: Run) -> list[Message]:
    """Return what was said up to a run's question, as `user` may see it."""
    said = []
    for message in _messages(user, [run.conversation_id]):
        if message.pk == run.answer_id:
            break
        said += _shown(message)
    return said


def _messages(user: User, threads: Collection[UUID]) -> list[Stored]:
    """Return what was said in conversations, in order, with what of it is cited."""
    # What may no longer be seen of an answer that was not completed hangs on what it was given.
    given = Candidate.objects.exclude(run__state=RunState.COMPLETED).select_related("chunk")
    found = list(
        Stored.objects.filter(conversation__in=threads)
        .select_related("run")
        .prefetch_related(
            Prefetch(
                "citations", Citation.objects.select_related("version").defer("version__text")
            ),
            Prefetch("run__candidates", given.defer("chunk__text", "chunk__fulltext")),
        )
    )
    redact_messages(found, user)
    return found


def _states(said: Iterable[Stored]) -> list[State]:
    states: list[State] = []
    values: list[Message] = []
    for message in said:
        values = [*values, *_shown(message)]
        if run := getattr(message, "run", None):
            states.append(_state(run, values, states))
    return states


def _shown(stored: Stored) -> list[Message]:
    """Return a message as a list; of an answer that is not ready, or is empty, there is nothing."""
    if stored.role == Role.USER:
        return [messages.human(stored.pk, stored.text)]
    run = getattr(stored, "run", None)
    if run is None or run.state in ACTIVE or not stored.text:
        return []
    cited = [runstate.citation_data(citation) for citation in stored.citations.all()]
    ending = runstate.ending_of(run, stored.text, cited)
    if isinstance(ending, Done):
        return [messages.answer(stored.pk, ending)]
    return [messages.ai(stored.pk, stored.text, cited)]


def _state(run: Run, values: list[Message], earlier: list[State]) -> State:
    active = run.state in ACTIVE
    task: dict[str, Any] = {
        "id": str(run.pk),
        "name": NODE,
        "error": run.error_message or None,
        "interrupts": [],
        "checkpoint": None,
        "state": None,
        "result": None,
    }
    return {
        "values": {"messages": values},
        "next": [NODE] if active else [],
        "tasks": [task] if active or task["error"] else [],
        "checkpoint": checkpoint(run.conversation_id, run.question_id if active else run.answer_id),
        "metadata": {
            **metadata_of(run),
            "source": "loop",
            "step": len(earlier) + 1,
            "run_id": str(run.pk),
            "thread_id": str(run.conversation_id),
        },
        "created_at": (run.finished_at or run.created_at).isoformat(),
        "parent_checkpoint": earlier[-1]["checkpoint"] if earlier else None,
        "interrupts": [],
    }


def empty(conversation: Conversation) -> State:
    """Return the state of a thread in which nothing was asked yet."""
    return {
        "values": {"messages": []},
        "next": [],
        "tasks": [],
        "checkpoint": checkpoint(conversation.pk, None),
        "metadata": {},
        "created_at": conversation.created_at.isoformat(),
        "parent_checkpoint": None,
        "interrupts": [],
    }


def checkpoint(thread: UUID, of: UUID | None) -> dict[str, Any]:
    """Return how a state of a thread is referred to: by the last message that it holds."""
    return {
        "thread_id": str(thread),
        "checkpoint_ns": "",
        "checkpoint_id": str(of) if of else None,
        "checkpoint_map": None,
    }


def metadata_of(run: Run) -> dict[str, Any]:
    """Return what the client keeps with a run."""
    return {key: value for key, value in run.metadata.items() if key != OWN}
