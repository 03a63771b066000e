"""Assistants in the admin: their form, their versions, and trying them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, Permission, User
from django.db import connections
from django.test import AsyncClient, Client
from django.urls import reverse

from chat.models import Assistant, Audience, Conversation, Run
from retrieval.models import Chunk, Collection, Visibility
from tests import conversations
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.django_db
ADD = "/admin/chat/assistant/add/"
LIST = "/admin/chat/assistant/"
FORM = {"name": "Archivist", "visibility": "signed_in", "search_settings": "{}"}


@pytest.fixture
def staff(client: Client) -> Client:
    """Return a browser in which an administrator is signed in."""
    client.force_login(conversations.person("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def archivist() -> Assistant:
    made = Assistant.objects.create(name="Archivist", instructions="Be brief.")
    made.record_version()
    return made


def allowed(*codenames: str) -> User:
    """Make someone in the admin with these permissions and no other."""
    user = conversations.person("maker", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def page_of(assistant: Assistant) -> str:
    return reverse("admin:chat_assistant_change", args=[assistant.pk])


def errors(client: Client, **fields: Any) -> dict[str, list[str]]:
    """Return what is said of a new assistant with these fields; none is made."""
    page = client.post(ADD, {**FORM, **fields})
    assert page.status_code == 200
    assert not Assistant.objects.exists()
    return dict(page.context["adminform"].errors)


def test_suggested_questions_are_written_one_a_line(staff: Client) -> None:
    assistant = Assistant.objects.create(name="Archivist", suggested_questions=["a?", "b?"])
    assert "a?\nb?" in staff.get(page_of(assistant)).content.decode()
    data = FORM | {"suggested_questions": "c?\r\n\r\n d? "}
    assert staff.post(page_of(assistant), data).status_code == 302
    assistant.refresh_from_db()
    assert assistant.suggested_questions == ["c?", "d?"]


@pytest.mark.parametrize(
    ("questions", "told"), [("?\n" * 13, "At most 12"), ("?\n" + "a" * 301, "Question 2 has 301")]
)
def test_questions_that_no_page_could_show_are_refused(
    questions: str, told: str, staff: Client
) -> None:
    (error,) = errors(staff, suggested_questions=questions)["suggested_questions"]
    assert told in error


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ('{"nope": 1}', "nope"),
        ('{"limit": "5"}', "limit"),
        ('{"limit": 1e999}', "limit"),
        ('{"filters": {"title": {"$regex": "a"}}}', "filters.title.$regex"),
        ('{"filters": {"title": "\\u0000"}}', "filters.title"),
        ("[]", "dictionary"),
        ('""', "dictionary"),
    ],
)
def test_search_settings_that_no_search_can_use_are_refused(
    given: str, told: str, staff: Client
) -> None:
    (error,) = errors(staff, search_settings=given)["search_settings"]
    assert told in error


@pytest.mark.parametrize("given", ["", "null", "{}"])
def test_search_settings_may_be_left_empty(given: str, staff: Client) -> None:
    assert staff.post(ADD, FORM | {"search_settings": given}).status_code == 302
    assert Assistant.objects.get().search_settings == {}


def test_parameters_are_fields_and_what_is_blank_is_the_provider_s(staff: Client) -> None:
    staff.post(ADD, FORM | {"temperature": "0", "max_tokens": "400", "top_p": ""})
    made = Assistant.objects.get()
    assert made.generation == {"temperature": 0.0, "max_tokens": 400}
    page = staff.get(page_of(made)).content.decode()
    assert 'name="max_tokens" value="400"' in page


def test_what_is_wrong_with_a_parameter_is_said_beside_it(staff: Client) -> None:
    found = errors(staff, temperature="3", top_p="0", max_tokens="1.5", seed="-1")
    assert set(found) == {"temperature", "top_p", "max_tokens", "seed"}
    assert found["temperature"] == ["Input should be less than or equal to 2."]


def test_collections_are_those_that_are_seen_or_already_chosen(
    client: Client, archivist: Assistant
) -> None:
    for name in ("Open", "Hidden", "Chosen"):
        Collection.objects.create(name=name, visibility=Visibility.RESTRICTED)
    Collection.objects.filter(name="Open").update(visibility=Visibility.SIGNED_IN)
    archivist.collections.add(Collection.objects.get(name="Chosen"))
    client.force_login(allowed("change_assistant"))
    form = client.get(page_of(archivist)).context["adminform"].form
    assert [str(one) for one in form.fields["collections"].queryset] == ["Chosen", "Open"]


def test_who_may_not_publish_makes_nothing_public(client: Client) -> None:
    client.force_login(allowed("add_assistant"))
    assert "visibility" in errors(client, visibility="public")
    assert client.post(ADD, FORM | {"visibility": "restricted"}).status_code == 302


def test_what_is_public_stays_so_when_something_else_is_changed(
    client: Client, archivist: Assistant
) -> None:
    Assistant.objects.update(visibility=Audience.PUBLIC)
    client.force_login(allowed("change_assistant"))
    assert client.post(page_of(archivist), FORM | {"visibility": "public"}).status_code == 302


def test_collections_that_its_users_do_not_see_are_told_of(staff: Client) -> None:
    hidden = Collection.objects.create(name="Wages", visibility=Visibility.RESTRICTED)
    page = staff.post(ADD, FORM | {"collections": [str(hidden.pk)]}, follow=True)
    assert "finds what is in “Wages”" in page.content.decode()


def test_people_and_groups_are_named(staff: Client) -> None:
    ada, group = conversations.person("ada"), Group.objects.create(name="Archive")
    staff.post(ADD, FORM | {"visibility": "restricted", "users": [ada.pk], "groups": [group.pk]})
    made = Assistant.objects.get()
    assert (made.users.get(), made.groups.get()) == (ada, group)


@pytest.mark.parametrize(("field", "found"), [("users", "ada"), ("groups", "adherents")])
def test_people_and_groups_are_found_by_the_beginning_of_their_names(
    field: str, found: str, client: Client
) -> None:
    conversations.person("ada")
    Group.objects.create(name="adherents")
    client.force_login(allowed("change_assistant"))
    asked = {
        "app_label": "chat",
        "model_name": "assistant",
        "field_name": field,
        "term": "adh" if field == "groups" else "ad",
    }
    url = reverse("admin:chat_assistant_people")
    results = client.get(url, asked).json()["results"]
    assert [each["text"] for each in results] == [found]
    assert client.get(url, asked | {"field_name": "collections"}).status_code == 403


def test_the_list_says_who_may_use_it_and_which_version_answers(
    staff: Client, archivist: Assistant
) -> None:
    archivist.model = "large"
    archivist.save()
    archivist.record_version()
    page = staff.get(LIST).content.decode()
    assert '<td class="field-visibility">Everyone signed in</td>' in page
    assert '<td class="field-version_number">2</td>' in page


def test_there_is_one_default_assistant(staff: Client) -> None:
    Assistant.objects.create(name="Old", is_default=True)
    new = Assistant.objects.create(name="New")
    staff.post(LIST, {"action": "make_default", "_selected_action": [str(new.pk)]})
    assert [one.name for one in Assistant.objects.filter(is_default=True)] == ["New"]


def test_saving_makes_a_version_of_what_decides_answers(staff: Client) -> None:
    towers = Collection.objects.create(name="Towers")
    staff.post(ADD, FORM | {"collections": [str(towers.pk)]})
    made = Assistant.objects.get()
    first = made.version
    assert first is not None
    assert (first.number, first.configuration["collections"]) == (1, [str(towers.pk)])
    assert str(first.created_by) == "root"
    staff.post(page_of(made), FORM | {"collections": [str(towers.pk)], "greeting": "Hello"})
    assert made.version == first
    staff.post(page_of(made), FORM | {"collections": [], "greeting": "Hello"})
    second = made.version
    assert second is not None
    assert second.number == 2


def versions_of(assistant: Assistant) -> str:
    return reverse("admin:chat_assistant_versions", args=[assistant.pk])


@pytest.fixture
def changed(archivist: Assistant) -> Assistant:
    """Return an assistant at its third version."""
    for instructions in ("Be brief.\nBe kind.", "Be long.\nBe kind."):
        archivist.instructions = instructions
        archivist.save()
        archivist.record_version()
    return archivist


def test_versions_are_listed_with_what_the_newest_changed(
    staff: Client, changed: Assistant
) -> None:
    page = staff.get(versions_of(changed)).content.decode()
    assert "From version 2 to version 3" in page
    assert "<del>Be brief.</del>" in page
    assert "<ins>Be long.</ins>" in page
    assert "<span>Be kind.</span>" in page
    assert "answers now" in page


def test_any_two_versions_are_compared(staff: Client, changed: Assistant) -> None:
    page = staff.get(versions_of(changed), {"from": "1", "to": "2"}).content.decode()
    assert "From version 1 to version 2" in page
    assert "<ins>Be kind.</ins>" in page
    assert staff.get(versions_of(changed), {"from": "x", "to": "9" * 30}).status_code == 200


def test_a_version_counts_the_answers_it_gave(staff: Client, changed: Assistant) -> None:
    conversations.answered(conversations.person("ada"), assistant_version=changed.version)
    assert "<td>1</td>" in staff.get(versions_of(changed)).content.decode()


def restore(client: Client, assistant: Assistant, number: int) -> int:
    url = reverse("admin:chat_assistant_restore", args=[assistant.pk, number])
    return client.post(url).status_code


def test_a_version_is_brought_back_as_a_new_one(staff: Client, changed: Assistant) -> None:
    Assistant.objects.update(visibility=Audience.RESTRICTED, greeting="Hello")
    assert restore(staff, changed, 1) == 302
    changed.refresh_from_db()
    assert (changed.instructions, changed.greeting) == ("Be brief.", "Hello")
    assert changed.visibility == Audience.RESTRICTED
    newest = changed.version
    assert newest is not None
    assert newest.number == 4
    assert str(newest.created_by) == "root"


def test_its_collections_come_back(staff: Client, archivist: Assistant) -> None:
    towers = Collection.objects.create(name="Towers")
    archivist.collections.add(towers)
    archivist.record_version()
    assert restore(staff, archivist, 1) == 302
    assert not archivist.collections.exists()
    assert restore(staff, archivist, 2) == 302
    assert archivist.collections.get() == towers


def test_a_version_whose_collection_is_gone_is_not_brought_back(
    staff: Client, archivist: Assistant
) -> None:
    """It would search everything else instead."""
    towers = Collection.objects.create(name="Towers")
    archivist.collections.add(towers)
    archivist.record_version()
    towers.delete()
    restore(staff, archivist, 2)
    page = staff.get(versions_of(archivist)).content.decode()
    assert "A collection that this version searched is gone." in page
    assert "a collection that is gone" in page
    assert archivist.versions.count() == 2


def test_who_may_only_look_brings_nothing_back(client: Client, changed: Assistant) -> None:
    client.force_login(allowed("view_assistant"))
    assert client.get(page_of(changed)).status_code == 200
    page = client.get(versions_of(changed))
    assert "Restore" not in page.content.decode()
    assert restore(client, changed, 1) == 403
    assert changed.versions.count() == 3


def test_being_staff_opens_no_page_of_assistants(client: Client, changed: Assistant) -> None:
    client.force_login(allowed())
    for url in (LIST, ADD, page_of(changed), versions_of(changed)):
        assert client.get(url).status_code == 403
    assert client.post(reverse("admin:chat_assistant_try_new")).status_code == 403
    assert restore(client, changed, 1) == 403


def test_unknown_assistants_and_versions_are_not_there(staff: Client, changed: Assistant) -> None:
    assert restore(staff, changed, 9) == 404
    nobody = Collection.objects.create(name="Not an assistant").pk
    assert staff.get(reverse("admin:chat_assistant_versions", args=[nobody])).status_code == 404
    assert staff.post(reverse("admin:chat_assistant_try", args=[nobody])).status_code == 404


@pytest.fixture
async def trying(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> AsyncIterator[AsyncClient]:
    """Return the browser of somebody who may change assistants."""

    def allow() -> None:
        user.is_staff = True
        user.save()
        wanted = ("change_assistant", "add_assistant")
        user.user_permissions.set(Permission.objects.filter(codename__in=wanted))

    await sync_to_async(allow)()
    client = AsyncClient()
    await client.aforce_login(user)
    yield client
    await sync_to_async(connections.close_all)()


async def answer(client: AsyncClient, url: str, **fields: Any) -> list[dict[str, Any]]:
    """Return the frames of the answer to a form and a question."""
    data = {**FORM, "question": "How high is the tower?", **fields}
    response: Any = await client.post(url, data)
    assert response.status_code == 200
    text = b"".join([part async for part in response.streaming_content]).decode()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.django_db(transaction=True)
async def test_a_question_is_answered_as_the_form_stands(
    trying: AsyncClient, generator: ScriptedGenerator
) -> None:
    made = await Assistant.objects.acreate(name="Archivist", instructions="Be brief.")
    generator.script = ["It is ", "96 m high [1]."]
    url = reverse("admin:chat_assistant_try", args=[made.pk])
    fields = {"instructions": "Be long.", "model": "large", "temperature": "0.5"}
    frames = await answer(trying, url, **fields)
    kinds = [frame["type"] for frame in frames]
    assert {"search_results", "token", "citation"} < set(kinds)
    assert frames[-1]["answer"] == "It is 96 m high [1]."
    (request,) = generator.requests
    assert request.messages[0].content.endswith("Be long.")
    assert (request.model, request.settings.temperature) == ("large", 0.5)
    await made.arefresh_from_db()
    assert made.instructions == "Be brief."
    assert not await Conversation.objects.aexists()
    assert not await Run.objects.aexists()


@pytest.mark.django_db(transaction=True)
async def test_an_assistant_is_tried_before_it_is_made(
    trying: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m [1]."]
    frames = await answer(trying, reverse("admin:chat_assistant_try_new"))
    assert frames[-1]["answer"] == "96 m [1]."
    assert not await Assistant.objects.aexists()


@pytest.mark.django_db(transaction=True)
async def test_who_tries_finds_no_more_than_they_may_see(
    trying: AsyncClient, generator: ScriptedGenerator
) -> None:
    await Collection.objects.aupdate(visibility=Visibility.RESTRICTED)
    frames = await answer(trying, reverse("admin:chat_assistant_try_new"))
    assert frames[-1]["finish_reason"] == "no_answer"
    assert generator.requests == []


@pytest.mark.django_db(transaction=True)
async def test_a_provider_that_fails_is_told_of_in_the_last_line(
    trying: AsyncClient, generator: ScriptedGenerator
) -> None:
    generator.script = [ValueError("secret detail")]
    frames = await answer(trying, reverse("admin:chat_assistant_try_new"))
    assert frames[-1]["type"] == "error"
    assert "secret" not in json.dumps(frames)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"question": " "}, {"Question": ["Please type a question."]}),
        ({"temperature": "9"}, {"Temperature": ["Input should be less than or equal to 2."]}),
        ({"name": ""}, {"Name": ["This field is required."]}),
    ],
)
def test_what_is_wrong_with_the_form_is_told_by_field(
    staff: Client, fields: dict[str, str], told: dict[str, list[str]]
) -> None:
    url = reverse("admin:chat_assistant_try_new")
    response = staff.post(url, {**FORM, "question": "How high?", **fields})
    assert response.status_code == 422
    assert response.json() == {"errors": told}


def test_the_page_offers_to_try_to_who_may_change(client: Client, archivist: Assistant) -> None:
    client.force_login(allowed("view_assistant"))
    assert 'id="try"' not in client.get(page_of(archivist)).content.decode()
    client.force_login(User.objects.create_superuser("chief"))
    assert 'id="try"' in client.get(page_of(archivist)).content.decode()
    assert 'id="try"' in client.get(ADD).content.decode()
