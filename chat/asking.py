"""From a question as it was asked to a stored run: found, checked, saved before anything else."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection
from django.utils.text import Truncator
from django.utils.translation import gettext
from uuid_utils.compat import uuid7

from chat.answering.pipeline import Question
from chat.frames import Ask, Asking
from chat.models import ACTIVE, Assistant, Conversation, Role, Run, RunState
from chat.runstate import RunRefused, interrupt_expired, lease
from retrieval import search
from retrieval.backends.base import ChatMessage
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TITLE_CHARS = 80


# The conversation, the question, the place for its answer, and the run, in one statement; what
# foreign keys point to is looked for at its end.
INSERT = """
WITH conversation AS (
  INSERT INTO chat_conversation (id, user_id, assistant_id, title, created_at, updated_at)
  VALUES (%(conversation)s, %(user)s, %(assistant)s, %(title)s, now(), now())
  ON CONFLICT (id) DO UPDATE SET updated_at = now()
), messages AS (
  INSERT INTO chat_message (id, conversation_id, role, text, created_at)
  VALUES (%(question)s, %(conversation)s, 'user', %(text)s, now()),
    (%(answer)s, %(conversation)s, 'assistant', '', now())
)
INSERT INTO chat_run (id, conversation_id, user_id, question_id, answer_id, ask_id, state, owner,
  lease_expires_at, model, settings, created_at, finish_reason, error_code, error_message, usage,
  timings)
VALUES (%(run)s, %(conversation)s, %(user)s, %(question)s, %(answer)s, %(ask)s, %(state)s,
  %(owner)s, %(lease)s, %(model)s, %(settings)s, now(), '', '', '', '{}', '{}')
"""


@dataclass(frozen=True)
class NewRun:
    """A run as it was stored, with what its answer may draw on; `question` is None for a repeat."""

    run: Run
    question: Question | None


def create(user: User, ask: Ask, owner: str) -> NewRun:
    """Save the question and its run, before anything else happens.

    The same ask id sent twice gives the run of the first. Raises RunRefused.
    """
    if ask.conversation:
        interrupt_expired(conversation=ask.conversation)
    conversation = find_conversation(user, ask)
    assistant = find_assistant(ask, conversation)
    question = question_of(user, ask, conversation, assistant)
    if conversation is None:
        conversation = begin_conversation(user, ask, assistant)
    queues = settings.MULTITASK_STRATEGY == "enqueue" and ask.conversation
    run = Run(
        conversation=conversation,
        user=user,
        question_id=uuid7(),
        answer_id=uuid7(),
        ask_id=ask.id,
        state=RunState.QUEUED if queues else RunState.RUNNING,
        owner=owner,
        lease_expires_at=lease(),
        model=ask.model or "",
        settings=question.settings.model_dump(mode="json", exclude_defaults=True),
    )
    try:
        insert(run, question.text)
    except IntegrityError as error:
        if ask.id and (first := Run.objects.filter(user=user, ask_id=ask.id).first()):
            return NewRun(first, None)
        raise RunRefused(
            "busy",
            gettext("This conversation is still answering. Wait for the answer, or stop it."),
            recoverable=True,
        ) from error
    return NewRun(run, question)


def take_turn(run: Run, question: Question) -> Question | None:
    """Let a queued run be the one that is answered; None while an earlier one still is.

    Returns the question with what was said in the meantime.
    """
    interrupt_expired(conversation=run.conversation_id)
    active = Run.objects.filter(conversation=run.conversation_id, state__in=ACTIVE)
    if active.filter(id__lt=run.id).exists():
        return None
    try:
        active.filter(id=run.id).update(state=RunState.RUNNING)
    except IntegrityError:
        return None
    run.state = RunState.RUNNING
    return replace(question, history=read_history(run.conversation, before=run.question_id))


def insert(run: Run, text: str) -> None:
    """Write a new run with its messages, and its conversation if that is new, too.

    Raises IntegrityError.
    """
    conversation = run.conversation
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT,
            {
                "conversation": conversation.id,
                "user": run.user_id,
                "assistant": conversation.assistant_id,
                "title": conversation.title,
                "question": run.question_id,
                "answer": run.answer_id,
                "text": text,
                "run": run.id,
                "ask": run.ask_id,
                "state": run.state,
                "owner": run.owner,
                "lease": run.lease_expires_at,
                "model": run.model,
                "settings": json.dumps(run.settings),
            },
        )


def prepare(user: User, asking: Asking) -> Question:
    """Return what is being asked, storing nothing. Raises RunRefused."""
    conversation = find_conversation(user, asking)
    return question_of(user, asking, conversation, find_assistant(asking, conversation))


def question_of(
    user: User, asking: Asking, conversation: Conversation | None, assistant: Assistant | None
) -> Question:
    """Return the question with what its answer may draw on. Raises RunRefused."""
    return Question(
        text=asking.text,
        scope=search.Scope(user, find_collections(user, asking.collections, assistant)),
        history=read_history(conversation) if conversation else (),
        instructions=assistant.instructions if assistant else "",
        settings=search_settings(assistant, asking.settings),
        model=find_model(user, asking, assistant) if isinstance(asking, Ask) else None,
    )


def find_conversation(user: User, asking: Asking) -> Conversation | None:
    """Return the conversation that is gone on with; RunRefused if there is no such of the user."""
    if asking.conversation is None:
        return None
    own = Conversation.objects.select_related("assistant")
    if conversation := own.filter(id=asking.conversation, user=user).first():
        return conversation
    raise RunRefused("not_found", gettext("There is no such conversation."))


def begin_conversation(user: User, ask: Ask, assistant: Assistant | None) -> Conversation:
    """Return a new conversation, named after its first question, not saved yet."""
    title = Truncator(" ".join(ask.text.split())).chars(TITLE_CHARS)
    return Conversation(user=user, assistant=assistant, title=title)


def find_assistant(asking: Asking, conversation: Conversation | None) -> Assistant | None:
    """Return the assistant that is named, or the conversation's, or the default one.

    Raises RunRefused.
    """
    if asking.assistant:
        if assistant := Assistant.objects.filter(name=asking.assistant).first():
            return assistant
        raise RunRefused("unknown_assistant", gettext("There is no assistant of that name."))
    if conversation and conversation.assistant:
        return conversation.assistant
    return Assistant.objects.filter(is_default=True).first()


def find_model(user: User, ask: Ask, assistant: Assistant | None) -> str | None:
    """Return the model the question chooses, None for the configured one.

    Models cost what they cost: RunRefused unless the assistant allows it, or the user is staff.
    """
    allowed = assistant.allowed_models if assistant else []
    if ask.model is None or ask.model in allowed or user.is_staff:
        return ask.model
    raise RunRefused("model_not_allowed", gettext("This assistant does not offer that model."))


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


def read_history(conversation: Conversation, before: UUID | None = None) -> list[ChatMessage]:
    """Return the conversation up to a message, oldest first, empty answers left out."""
    messages = conversation.messages.all()
    return [
        ChatMessage("user" if message.role == Role.USER else "assistant", message.text)
        for message in (messages.filter(id__lt=before) if before else messages)
        if message.text
    ]
