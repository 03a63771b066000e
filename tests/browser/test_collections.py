"""A collection's page: its manager names who may search it."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.urls import reverse
from playwright.sync_api import expect

from chat.accounts.roles import COLLECTION_MANAGERS
from retrieval.models import Collection, Visibility
from tests import conversations
from tests.browser.conftest import NewPage


def test_a_manager_looks_somebody_up_and_makes_them_a_reader(new_page: NewPage) -> None:
    grace = conversations.person("grace")
    conversations.person("harold")
    manager = conversations.person("eve", is_staff=True)
    manager.groups.add(Group.objects.get(name=COLLECTION_MANAGERS))
    collection = Collection.objects.create(name="Papers", visibility=Visibility.RESTRICTED)
    collection.managers.add(manager)
    page = new_page(manager)
    page.goto(reverse("admin:retrieval_collection_change", args=[collection.pk]))
    page.locator(".field-readers .select2-search__field").fill("gra")
    option = page.locator(".select2-results__option", has_text="grace")
    expect(option).to_be_visible()
    expect(page.locator(".select2-results__option")).to_have_count(1)
    option.click()
    page.locator("[name=_save]").click()
    expect(page.locator(".messagelist .success")).to_contain_text("changed successfully")
    assert [*collection.readers.all()] == [grace]
