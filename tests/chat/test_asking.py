"""Which assistant is asked, with which model, and what a question may change of its search."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission, User
from django.db import connections
from django.utils import timezone

from chat import asking
from chat.accounts.models import Guest
from chat.asking import Asked, AskedAssistant, find, search_settings
from chat.client_messages import Ask
from chat.models import Assistant, Audience, Conversation
from chat.runs import RunRefused
from retrieval.database import fetch, in_thread
from retrieval.models import Collection

HANDBOOK = {"metadata.kind": "handbook"}


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    """Close the connection of asgiref's thread, which ran this test's queries."""
    yield
    await sync_to_async(connections.close_all)()


def filters(own: dict[str, Any], asked: dict[str, Any] | None) -> Any:
    settings = search_settings(AskedAssistant(id=uuid4(), search_settings=own), asked)
    return settings.model_dump(mode="json")["filters"]


@pytest.mark.parametrize("asked", [None, {}, {"limit": 3}, {"filters": None}, {"filters": {}}])
def test_an_assistant_s_filter_holds(asked: dict[str, Any] | None) -> None:
    assert filters({"filters": HANDBOOK}, asked) == filters({}, {"filters": HANDBOOK})


def test_a_question_s_filter_is_joined_to_its_assistant_s() -> None:
    found = filters({"filters": HANDBOOK}, {"filters": {"language": "de"}})
    assert found == {"$and": [filters({"filters": HANDBOOK}, None), {"language": {"$eq": "de"}}]}


def test_a_question_s_filter_holds_by_itself() -> None:
    assert filters({}, {"filters": {"language": "de"}}) == {"language": {"$eq": "de"}}


async def ask(user: User, **fields: Any) -> Asked:
    return await find(user, Ask(type="ask", text="How high is it?", **fields))


async def refused(user: User, **fields: Any) -> str:
    with pytest.raises(RunRefused) as refusal:
        await ask(user, **fields)
    return refusal.value.code


@sync_to_async
def assistant(name: str = "Archivist", **fields: Any) -> Assistant:
    """Make an assistant with a version."""
    made = Assistant.objects.create(name=name, **fields)
    made.record_version()
    return made


@sync_to_async
def permit(user: User, codename: str) -> None:
    user.user_permissions.add(Permission.objects.get(codename=codename))


async def test_what_is_asked_is_what_the_assistant_is_made_of(user: User) -> None:
    made = await assistant(
        instructions="Be brief.",
        search_settings={"limit": 3},
        model="large",
        generation={"temperature": 0.5},
        rewrites=False,
        answers_without_sources=True,
    )
    towers = await Collection.objects.acreate(name="Towers")
    await made.collections.aadd(towers)
    await sync_to_async(made.record_version)()
    asked = await ask(user, assistant="Archivist")
    question = asked.question
    newest = await made.versions.aget(number=2)
    assert (asked.assistant, asked.version) == (made.pk, newest.pk)
    assert (question.instructions, question.settings.limit) == ("Be brief.", 3)
    assert (question.model, question.generation.temperature) == ("large", 0.5)
    assert (question.rewrite, question.without_sources) == (False, True)
    assert question.scope.collections == (towers.pk,)


async def test_an_assistant_whose_collections_were_all_deleted_searches_nothing(
    user: User,
) -> None:
    """Not everything, as one does for which none was ever chosen."""
    only = await Collection.objects.acreate(name="Archive")
    await Collection.objects.acreate(name="Other")
    made = await assistant()
    await made.collections.aadd(only)
    await sync_to_async(made.record_version)()
    await only.adelete()
    asked = await ask(user, assistant=made.name)
    scope = asked.question.scope
    assert scope.collections
    documents = await fetch(
        "SELECT FROM retrieval_collection WHERE id = ANY(%s)", [[*scope.collections]]
    )
    assert not documents


async def test_a_question_names_only_collections_that_its_assistant_searches(user: User) -> None:
    own = await Collection.objects.acreate(name="Archive")
    await Collection.objects.acreate(name="Other")
    made = await assistant()
    await made.collections.aadd(own)
    asked = await ask(user, assistant=made.name, collections=["Archive"])
    assert asked.question.scope.collections == (own.pk,)
    code = await refused(user, assistant=made.name, collections=["Archive", "Other"])
    assert code == "unknown_collection"


async def test_who_may_not_use_an_assistant_is_not_told_that_it_is_there(user: User) -> None:
    await assistant(visibility=Audience.RESTRICTED)
    await assistant("Open")
    assert await refused(user, assistant="Archivist") == "unknown_assistant"
    assert await refused(user, assistant="Nobody") == "unknown_assistant"


async def test_the_default_one_answers_if_it_may_be_used(user: User) -> None:
    default = await assistant("Z", is_default=True)
    first = await assistant("A")
    assert (await ask(user)).assistant == default.pk
    await Assistant.objects.filter(pk=default.pk).aupdate(visibility=Audience.RESTRICTED)
    assert (await ask(user)).assistant == first.pk


async def test_where_nothing_may_be_used_nothing_is_asked(user: User) -> None:
    await assistant(visibility=Audience.RESTRICTED)
    assert await refused(user) == "assistant_unavailable"


async def test_without_any_assistant_only_who_is_signed_in_asks(user: User) -> None:
    assert (await ask(user)).assistant is None
    guest = await sync_to_async(Guest.objects.create_guest)()
    assert await refused(guest) == "assistant_unavailable"


async def test_a_guest_asks_what_is_public(user: User) -> None:
    guest = await sync_to_async(Guest.objects.create_guest)()
    await assistant("A", is_default=True)
    assert await refused(guest) == "assistant_unavailable"
    public = await assistant("B", visibility=Audience.PUBLIC)
    assert (await ask(guest)).assistant == public.pk
    assert await refused(guest, assistant="A") == "unknown_assistant"


async def test_a_conversation_goes_on_with_its_assistant(user: User) -> None:
    own = await assistant()
    await assistant("A", is_default=True)
    conversation = await Conversation.objects.acreate(user=user, assistant=own, title="?")
    asked = await ask(user, conversation=conversation.pk)
    assert (asked.assistant, asked.conversation) == (own.pk, conversation.pk)


async def test_a_conversation_ends_where_its_assistant_is_taken_away(user: User) -> None:
    own = await assistant()
    await assistant("A", is_default=True)
    conversation = await Conversation.objects.acreate(user=user, assistant=own, title="?")
    await Assistant.objects.filter(pk=own.pk).aupdate(visibility=Audience.RESTRICTED)
    with pytest.raises(RunRefused) as refusal:
        await ask(user, conversation=conversation.pk)
    assert refusal.value.code == "assistant_unavailable"
    assert "Start a new conversation" in refusal.value.message


async def test_a_conversation_of_an_assistant_that_is_gone_goes_on_with_the_default_one(
    user: User,
) -> None:
    default = await assistant(is_default=True)
    conversation = await Conversation.objects.acreate(user=user, title="?")
    assert (await ask(user, conversation=conversation.pk)).assistant == default.pk


async def test_another_s_conversation_does_not_exist(user: User, other: User) -> None:
    conversation = await Conversation.objects.acreate(user=other, title="?")
    assert await refused(user, conversation=conversation.pk) == "not_found"
    assert await refused(user, conversation=uuid4()) == "not_found"


async def test_who_may_choose_any_model_does(user: User) -> None:
    await assistant()
    assert await refused(user, model="expensive") == "model_not_allowed"
    await permit(user, "choose_any_model")
    assert (await ask(user, model="expensive")).question.model == "expensive"


async def test_being_staff_offers_no_model(user: User) -> None:
    user.is_staff = True
    await user.asave()
    assert await refused(user, model="expensive") == "model_not_allowed"


async def test_the_right_to_choose_is_the_one_of_now(user: User) -> None:
    """A socket may have been open since its user was a superuser."""
    user.is_superuser = True
    assert await refused(user, model="expensive") == "model_not_allowed"


async def test_generation_settings_that_no_generator_takes_are_refused(user: User) -> None:
    await assistant(generation={"temperature": 9})
    assert await refused(user) == "bad_settings"


@pytest.mark.parametrize("goes_on", [False, True])
async def test_an_assistant_takes_one_statement(
    user: User, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    """What comes beside it is what was said before."""
    own = await assistant(model="large")
    conversation = await Conversation.objects.acreate(user=user, assistant=own, title="?")
    asked = []

    async def counted(sql: str, *args: Any) -> Any:
        asked.append(sql)
        return await fetch(sql, *args)

    monkeypatch.setattr(asking, "fetch", counted)
    await ask(user, model="large", conversation=conversation.pk if goes_on else None)
    assert len(asked) == 1 + goes_on


async def test_a_deleted_conversation_does_not_go_on(user: User) -> None:
    mine = await in_thread(
        Conversation.objects.create, user=user, title="Mine", deleted_at=timezone.now()
    )
    assert await refused(user, conversation=mine.pk) == "not_found"
