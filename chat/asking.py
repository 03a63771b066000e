"""From a question as it was asked to what its answer may draw on: found, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils.translation import gettext

from chat.answering.question import Question
from chat.client_messages import Ask, Asking
from chat.models import Assistant
from chat.models.assistants import CHOOSE_ANY_MODEL
from chat.runstate import RunRefused
from retrieval import search
from retrieval.backends.base import ChatMessage
from retrieval.backends.generation import GenerationSettings, GenerationSettingsError
from retrieval.database import fetch, rows
from retrieval.models.rights import holds, is_known
from retrieval.permitted import permitted

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

# The conversation if it is the person's, and of the assistants they may use the one that is named,
# or else the conversation's own, or else the preferred one: one row, whatever there is. One whose
# collections were all deleted since searches nothing, not everything.
ASSISTANT = """
SELECT conversation.id, conversation.assistant_id, EXISTS (SELECT FROM chat_assistant),
  assistant.id, version.id, instructions, search_settings, model, generation, allowed_models,
  rewrites, answers_without_sources,
  COALESCE(
    NULLIF(
      ARRAY(SELECT collection_id FROM chat_assistant_collections WHERE assistant_id = assistant.id),
      '{{}}'
    ),
    ARRAY(SELECT jsonb_array_elements_text(version.configuration -> 'collections')::uuid)
  )
FROM (SELECT) AS asked
LEFT JOIN chat_conversation AS conversation ON conversation.id = %s AND conversation.user_id = %s
  AND conversation.deleted_at IS NULL
LEFT JOIN LATERAL (
  SELECT * FROM chat_assistant
  WHERE id IN ({usable}) AND CASE
    WHEN %s <> '' THEN name = %s
    WHEN conversation.assistant_id IS NOT NULL THEN id = conversation.assistant_id
    ELSE true END
  ORDER BY is_default DESC, name LIMIT 1
) AS assistant ON true
LEFT JOIN LATERAL (
  SELECT id, configuration FROM chat_assistantversion
  WHERE assistant_id = assistant.id ORDER BY number DESC LIMIT 1
) AS version ON true
"""


class AskedAssistant(NamedTuple):
    """What of an assistant an answer depends on."""

    id: UUID | None = None
    version: UUID | None = None
    instructions: str = ""
    search_settings: dict[str, Any] = {}  # noqa: RUF012 - nobody writes to it
    model: str = ""
    generation: dict[str, Any] = {}  # noqa: RUF012
    allowed_models: Sequence[str] = ()
    rewrites: bool = True
    answers_without_sources: bool = False
    collections: Sequence[UUID] = ()


@dataclass(frozen=True)
class Asked:
    """A question, and where it was asked: a conversation's id if it goes on with one.

    `assistant` is who answers, and `version` what decides how.
    """

    question: Question
    conversation: UUID | None
    assistant: UUID | None
    version: UUID | None


async def find(user: User, asking: Asking, history: Sequence[ChatMessage] = ()) -> Asked:
    """Return what is being asked, storing nothing. Raises RunRefused, DatabaseError.

    `history` are earlier turns that are not stored.
    """
    assistant = await find_assistant(user, asking)
    if asking.conversation:
        history = [*await read_history(asking.conversation), *history]
    question = Question(
        text=asking.text,
        scope=search.Scope(user, await find_collections(user, asking.collections, assistant)),
        history=history,
        instructions=assistant.instructions,
        settings=search_settings(assistant, asking.settings),
        model=await find_model(user, asking, assistant) if isinstance(asking, Ask) else None,
        generation=generation_settings(
            assistant, asking.generation if isinstance(asking, Ask) else None
        ),
        rewrite=assistant.rewrites,
        without_sources=assistant.answers_without_sources,
    )
    return Asked(question, asking.conversation, assistant.id, assistant.version)


async def find_assistant(user: User, asking: Asking) -> AskedAssistant:
    """Return the assistant that is named, or the conversation's own, or the preferred one.

    Where there are no assistants at all, whoever is signed in asks without one. Raises RunRefused
    if it may not be used, or the conversation is not the user's.
    """
    usable, params = permitted(usable_assistants, user)
    name = asking.assistant or ""
    ((conversation, own, any_at_all, *found),) = await fetch(
        ASSISTANT.format(usable=usable),
        [asking.conversation, user.pk, *params, name, name],
    )
    if asking.conversation and not conversation:
        raise RunRefused("not_found", gettext("There is no such conversation."))
    if found[0]:
        return AskedAssistant(*found)
    if name:
        raise RunRefused("unknown_assistant", gettext("There is no assistant of that name."))
    if own:
        raise RunRefused("assistant_unavailable", taken_away_message())
    if any_at_all or not is_known(user):
        raise RunRefused("assistant_unavailable", none_open_message())
    return AskedAssistant()


def usable_assistants(user: User | AnonymousUser) -> QuerySet[Any, Any]:
    """Return the ids of the assistants that somebody may use."""
    return Assistant.objects.usable_by(user).order_by().values("id")


def taken_away_message() -> str:
    """Say that a conversation cannot go on, and what to do."""
    return gettext(
        "The assistant of this conversation is no longer open to you. Start a new conversation, or"
        " ask an administrator for access."
    )


def none_open_message() -> str:
    """Say that there is nobody to ask, and what to do."""
    return gettext("No assistant is open to you. Sign in, or ask an administrator for access.")


async def find_model(user: User, ask: Ask, assistant: AskedAssistant) -> str | None:
    """Return the model that writes: the question's choice, or the assistant's.

    None is the configured one. Models cost what they cost: RunRefused unless the assistant allows
    the choice, or the user may choose any.
    """
    if not ask.model or ask.model == assistant.model:
        return assistant.model or None
    if ask.model in assistant.allowed_models or await may_choose_any_model(user):
        return ask.model
    raise RunRefused("model_not_allowed", gettext("This assistant does not offer that model."))


async def may_choose_any_model(user: User) -> bool:
    """Whether a person may have any model, as the database says now. Raises DatabaseError."""
    if not is_known(user):
        return False
    may = Q(is_superuser=True) | holds(user, CHOOSE_ANY_MODEL)
    return bool(await rows(User.objects.filter(may, pk=user.pk, is_active=True).values("pk")))


async def find_collections(
    user: User, names: list[str] | None, assistant: AskedAssistant
) -> tuple[UUID, ...] | None:
    """Return the ids of the collections to search, None for all.

    A question can name some of those that its assistant searches, never others. Raises RunRefused.
    """
    if not names:
        return tuple(assistant.collections) or None
    visible, params = permitted(search.visible_collections, user)
    found: dict[str, UUID] = dict(
        await fetch(
            f"SELECT name, id FROM retrieval_collection WHERE name = ANY(%s) AND id IN ({visible})",
            [names, *params],
        )
    )
    if missing := [name for name in names if name not in found]:
        raise RunRefused(
            "unknown_collection",
            gettext("There is no collection “{name}”.").format(name=missing[0]),
        )
    searched = set(assistant.collections) or {*found.values()}
    if beyond := [name for name in names if found[name] not in searched]:
        raise RunRefused(
            "unknown_collection",
            gettext("This assistant does not search the collection “{name}”.").format(
                name=beyond[0]
            ),
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


def generation_settings(
    assistant: AskedAssistant, asked: dict[str, object] | None = None
) -> GenerationSettings:
    """Return how the answer is written: as the question says, and else as the assistant does.

    A question can have a shorter answer than its assistant gives, never a longer one. Raises
    RunRefused that names the field.
    """
    try:
        own = GenerationSettings.parse(assistant.generation)
        if not asked:
            return own
        settings = GenerationSettings.parse({**assistant.generation, **asked})
        longest = [n for n in (own.max_tokens, settings.max_tokens) if n is not None]
        return settings.model_copy(update={"max_tokens": min(longest, default=None)})
    except GenerationSettingsError as error:
        raise RunRefused("bad_settings", str(error)) from error


async def read_history(conversation: UUID, before: UUID | None = None) -> list[ChatMessage]:
    """Return the conversation up to a message, oldest first, empty answers left out."""
    messages = await fetch(
        "SELECT role, text FROM chat_message WHERE conversation_id = %s AND text <> ''"
        " AND (%s::uuid IS NULL OR id < %s) ORDER BY created_at, id",
        [conversation, before, before],
    )
    return [ChatMessage(role, text) for role, text in messages]
