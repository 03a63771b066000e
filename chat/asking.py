"""From a question as it was asked to a stored run: found, checked, saved before anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.text import Truncator
from django.utils.translation import gettext

from chat.answering.pipeline import Question
from chat.frames import Ask
from chat.models import Assistant, Conversation, Message, Role, Run, RunState
from chat.runstate import RunRefused, interrupt_expired, lease
from retrieval import search
from retrieval.backends.base import ChatMessage
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TITLE_CHARS = 80


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
