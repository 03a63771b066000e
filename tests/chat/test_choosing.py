"""What somebody can choose to ask, and to search."""

from __future__ import annotations

import pytest

from chat.choosing import choices
from chat.models import Assistant, Audience
from retrieval.models import Collection, Visibility
from tests.conversations import person

pytestmark = pytest.mark.django_db


def test_only_what_is_open_to_a_person_is_offered() -> None:
    Assistant.objects.create(name="Archivist")
    Assistant.objects.create(name="Secret", visibility=Audience.RESTRICTED)
    Assistant.objects.create(name="Default", is_default=True)
    seen = Collection.objects.create(name="Letters")
    Collection.objects.create(name="Salaries", visibility=Visibility.RESTRICTED)
    found = choices(person("ada"))
    assert [each.assistant.name for each in found.assistants] == ["Default", "Archivist"]
    assert found.collections == [seen]
    assert not found.is_one


def test_an_assistant_offers_its_own_collections_as_far_as_they_are_seen() -> None:
    assistant = Assistant.objects.create(name="Archivist")
    seen = Collection.objects.create(name="Letters")
    hidden = Collection.objects.create(name="Salaries", visibility=Visibility.RESTRICTED)
    Collection.objects.create(name="Maps")
    assistant.collections.set([seen, hidden])
    (found,) = choices(person("ada")).assistants
    assert found.collections == ["Letters"]


def test_of_one_assistant_and_one_collection_nothing_is_chosen() -> None:
    Assistant.objects.create(name="Archivist")
    Collection.objects.create(name="Letters")
    assert choices(person("ada")).is_one
