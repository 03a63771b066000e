"""Assistants in the admin: their form and their list."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from chat.models import Assistant, Audience
from retrieval.models import Collection, Visibility
from tests import conversations
from tests.chat.assistants import ADD, FORM, LIST, allowed, page_of

pytestmark = pytest.mark.django_db


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
