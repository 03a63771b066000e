"""From a question as it was asked to what its answer may draw on: found, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.utils.translation import gettext

from chat.answering.question import Question
from chat.frames import Ask, Asking
from chat.runstate import RunRefused
from retrieval import search
from retrieval.backends.base import ChatMessage
from retrieval.database import fetch, rows
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import User

ASSISTANT = """
SELECT id, instructions, search_settings, allowed_models, rewrites,
  ARRAY(SELECT collection_id FROM chat_assistant_collections WHERE assistant_id = assistant.id)
FROM chat_assistant AS assistant WHERE
"""


class AskedAssistant(NamedTuple):
    """What of an assistant an answer depends on."""

    id: UUID | None = None
    instructions: str = ""
    search_settings: dict[str, Any] = {}  # noqa: RUF012 - nobody writes to it
    allowed_models: Sequence[str] = ()
    rewrites: bool = True
    collections: Sequence[UUID] = ()


@dataclass(frozen=True)
class Asked:
    """A question, and where it was asked: a conversation's id if it goes on with one."""

    question: Question
    conversation: UUID | None
    assistant: UUID | None


async def find(user: User, asking: Asking) -> Asked:
    """Return what is being asked, storing nothing. Raises RunRefused, DatabaseError."""
    own = await find_conversation(user, asking.conversation) if asking.conversation else None
    assistant = await find_assistant(asking.assistant, own)
    question = Question(
        text=asking.text,
        scope=search.Scope(user, await find_collections(user, asking.collections, assistant)),
        history=await read_history(asking.conversation) if asking.conversation else (),
        instructions=assistant.instructions,
        settings=search_settings(assistant, asking.settings),
        model=find_model(user, asking, assistant) if isinstance(asking, Ask) else None,
        rewrite=assistant.rewrites,
    )
    return Asked(question, asking.conversation, assistant.id)


async def find_conversation(user: User, conversation: UUID) -> UUID | None:
    """Return the assistant of a conversation of the user's. Raises RunRefused if there is none."""
    found = await fetch(
        "SELECT assistant_id FROM chat_conversation WHERE id = %s AND user_id = %s",
        [conversation, user.pk],
    )
    if not found:
        raise RunRefused("not_found", gettext("There is no such conversation."))
    assistant: UUID | None = found[0][0]
    return assistant


async def find_assistant(name: str | None, own: UUID | None) -> AskedAssistant:
    """Return the assistant that is named, or the conversation's own, or the default one.

    Raises RunRefused.
    """
    if name:
        if named := await fetch(f"{ASSISTANT} name = %s", [name]):
            return AskedAssistant(*named[0])
        raise RunRefused("unknown_assistant", gettext("There is no assistant of that name."))
    found = await (
        fetch(f"{ASSISTANT} id = %s", [own]) if own else fetch(f"{ASSISTANT} is_default")
    )
    return AskedAssistant(*found[0]) if found else AskedAssistant()


def find_model(user: User, ask: Ask, assistant: AskedAssistant) -> str | None:
    """Return the model the question chooses, None for the configured one.

    Models cost what they cost: RunRefused unless the assistant allows it, or the user is staff.
    """
    if ask.model is None or ask.model in assistant.allowed_models or user.is_staff:
        return ask.model
    raise RunRefused("model_not_allowed", gettext("This assistant does not offer that model."))


async def find_collections(
    user: User, names: list[str] | None, assistant: AskedAssistant
) -> tuple[UUID, ...] | None:
    """Return the ids of the collections to search, None for all. Raises RunRefused."""
    if not names:
        return tuple(assistant.collections) or None
    visible = Collection.objects.visible_to(user).filter(name__in=names)
    found: dict[str, UUID] = dict(await rows(visible.values_list("name", "id")))
    if missing := [name for name in names if name not in found]:
        raise RunRefused(
            "unknown_collection",
            gettext("There is no collection “{name}”.").format(name=missing[0]),
        )
    return tuple(found.values())


def search_settings(
    assistant: AskedAssistant, asked: dict[str, object] | None
) -> search.SearchSettings:
    """Return the assistant's search settings with the question's own over them.

    Filters are joined: a question can look at less than its assistant does, never at more.

    Raises RunRefused that names the field.
    """
    try:
        own = search.SearchSettings.parse(assistant.search_settings)
        if not asked:
            return own
        settings = search.SearchSettings.parse({**assistant.search_settings, **asked})
    except search.SearchSettingsError as error:
        raise RunRefused("bad_settings", str(error)) from error
    return settings.within(own.filters) if "filters" in asked else settings


async def read_history(conversation: UUID, before: UUID | None = None) -> list[ChatMessage]:
    """Return the conversation up to a message, oldest first, empty answers left out."""
    messages = await fetch(
        "SELECT role, text FROM chat_message WHERE conversation_id = %s AND text <> ''"
        " AND (%s::uuid IS NULL OR id < %s) ORDER BY created_at, id",
        [conversation, before, before],
    )
    return [ChatMessage(role, text) for role, text in messages]
