"""The administration and the account on small screens, and before scripts have come."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, ViewportSize, expect

from chat.models import Assistant, Run
from retrieval.models import Collection
from tests import conversations
from tests.browser.conftest import DESKTOP, PHONE, NewPage

DOCUMENTS = "/admin/retrieval/document/"
NARROW = {"width": 320, "height": 640}
TABLET = {"width": 768, "height": 1024}
# The words of the table of passages that stand on more than one line, but those of their titles.
BROKEN = """() => [...document.querySelectorAll(".review .scroll :is(th, td):not(:has(details))")]
  .flatMap((cell) => [...cell.firstChild.data.matchAll(/\\S+/g)].filter((word) => {
    const range = document.createRange();
    range.setStart(cell.firstChild, word.index);
    range.setEnd(cell.firstChild, word.index + word[0].length);
    return range.getClientRects().length !== 1;
  })).map(String)"""
WORD = "Donaudampfschifffahrtselektrizitäten" * 4


@pytest.fixture
def run(ada: User) -> Run:
    """Return an answer about a document; everything has a name that is one long word."""
    conversations.person(WORD)
    EmailAddress.objects.create(user=ada, email="ada@lighthouses.example")
    made = conversations.answered(ada, question=WORD, version=conversations.document(title=WORD))
    Collection.objects.update(name=WORD)
    return made


def too_wide(page: Page) -> bool:
    """Whether the page must be scrolled sideways."""
    wide: bool = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return wide


@pytest.mark.parametrize("app", ["retrieval", "chat", "accounts"])
def test_no_page_is_scrolled_sideways(new_page: NewPage, ada: User, run: Run, app: str) -> None:
    assistant = Assistant.objects.create(name=WORD[:100])
    for _ in range(2):
        assistant.instructions += "Be brief."
        assistant.record_version()
    collection = Collection.objects.get()
    document = collection.documents.get()
    addresses = {
        "retrieval": (
            DOCUMENTS,
            f"{DOCUMENTS}upload/",
            f"{DOCUMENTS}{document.pk}/change/",
            f"/admin/retrieval/collection/{collection.pk}/change/",
        ),
        "chat": (
            "/admin/chat/conversation/",
            f"/admin/chat/conversation/{run.conversation_id}/change/",
            f"/admin/chat/assistant/{assistant.pk}/versions/",
            "/admin/limits/limit/use/",
        ),
        "accounts": ("/admin/auth/user/", "/admin/audit/auditevent/", "/accounts/email/"),
    }
    page = new_page(ada)
    for address in addresses[app]:
        page.goto(address)
        for size in (NARROW, TABLET):
            page.set_viewport_size(size)
            assert not too_wide(page), (address, size)


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_figures_and_headings_of_a_review_are_not_broken(
    new_page: NewPage, ada: User, run: Run, size: ViewportSize
) -> None:
    stages = ("vector", "fulltext", "fused", "reranked")
    run.candidates.update(scores=dict.fromkeys(stages, 0.8871))
    page = new_page(ada, viewport=size)
    page.goto(f"/admin/chat/conversation/{run.conversation_id}/change/")
    assert page.locator(".review .scroll td", has_text="0.887").count() >= len(stages)
    assert page.evaluate(BROKEN) == []


def test_filters_are_a_sheet_where_a_list_needs_the_room(
    new_page: NewPage, ada: User, run: Run
) -> None:
    page = new_page(ada, viewport=PHONE)
    page.goto(DOCUMENTS)
    opener = page.get_by_role("button", name="Filter")
    ready = page.get_by_role("link", name="Ready")
    expect(ready).to_be_hidden()
    opener.click()
    expect(ready).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(ready).to_be_hidden()
    expect(opener).to_be_focused()
    opener.click()
    ready.click()
    expect(page.get_by_role("button", name="Filter (in use)")).to_be_visible()


def test_filters_stand_beside_a_list_where_there_is_room(
    new_page: NewPage, ada: User, run: Run
) -> None:
    page = new_page(ada)
    page.goto(DOCUMENTS)
    expect(page.get_by_role("link", name="Ready")).to_be_in_viewport()
    expect(page.locator(".filters-open")).to_be_hidden()


def test_the_script_of_the_sidebar_moves_nothing(new_page: NewPage, ada: User, run: Run) -> None:
    page = new_page(ada)
    page.goto(DOCUMENTS)
    expect(page.locator("#nav-sidebar[aria-expanded=true]")).to_be_visible()
    content = page.locator("#content-start")
    after = content.bounding_box()

    def withhold(route: Route) -> None:
        route.fulfill(body="", content_type="text/javascript")

    page.route("**/nav_sidebar*.js", withhold)
    page.reload()
    expect(page.locator("#nav-sidebar:not([aria-expanded])")).to_be_visible()
    assert content.bounding_box() == after
