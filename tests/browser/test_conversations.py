"""The list of conversations, the panel beside them, and the page on other screens."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from chat.models import Conversation, Run
from tests import conversations
from tests.browser.conftest import PHONE, NewPage, screenshot, until


@pytest.fixture
def run(ada: User) -> Run:
    return conversations.answered(ada)


@pytest.fixture
def page(new_page: NewPage, ada: User, run: Run) -> Page:
    """Return a page that shows a conversation."""
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    return page


def test_a_conversation_is_renamed_in_place(page: Page, run: Run) -> None:
    item = page.locator(".item").first
    item.hover()
    item.get_by_role("button", name="Rename").click()
    field = page.get_by_label("New name")
    expect(field).to_be_focused()
    field.fill("The lamp")
    field.press("Enter")
    expect(page.get_by_role("link", name="The lamp")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("The lamp")
    assert Conversation.objects.get().title == "The lamp"


def test_escape_leaves_the_name_as_it_was(page: Page, run: Run) -> None:
    item = page.locator(".item").first
    item.hover()
    item.get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill("Something else")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name=run.conversation.title)).to_be_visible()


def test_deleting_asks_first_and_opens_a_new_conversation(page: Page, run: Run) -> None:
    item = page.locator(".item").first
    item.hover()
    item.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(run.conversation.title)
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert Conversation.objects.exists()
    item.hover()
    item.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    page.wait_for_url(lambda url: url.endswith("/") and "/c/" not in url)
    assert not Conversation.objects.exists()


def test_the_panel_pushes_the_column_and_walks_through_citations(page: Page) -> None:
    before = page.locator("#messages").bounding_box()
    page.locator(".cite").first.click()
    panel = page.locator("#panel")
    expect(panel.locator("mark")).to_be_visible()
    expect(panel).to_have_attribute("data-state", "shown")
    until(page, "document.getAnimations().every((a) => a.playState === 'finished')")
    column, beside = page.locator("#messages").bounding_box(), panel.bounding_box()
    assert before and column and beside
    assert column["width"] < before["width"]
    assert column["x"] + column["width"] <= beside["x"] + 1
    body = panel.locator("#panel-body").bounding_box()
    assert body
    assert body["x"] == beside["x"]  # sliding in, it was not scrolled
    expect(panel).to_contain_text("Citation 1 of 2")
    panel.get_by_role("button", name="Next citation").click()
    expect(panel).to_contain_text("Citation 2 of 2")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    expect(page.locator(".cite").first).to_be_focused()
    expect(page.locator("#card")).to_be_hidden()


def test_the_theme_is_remembered_and_known_to_the_server(page: Page) -> None:
    page.get_by_role("button", name="ada").click()
    page.get_by_text("Dark").click()
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    screenshot(page, "dark")


def test_the_sidebar_stays_closed(page: Page) -> None:
    sidebar = page.get_by_role("navigation", name="Conversations")
    sidebar.get_by_role("button", name="Hide conversations").click()
    expect(sidebar).to_be_hidden()
    page.reload()
    expect(sidebar).to_be_hidden()
    page.get_by_role("button", name="Show conversations").click()
    expect(sidebar).to_be_visible()


def test_signing_out_ends_the_session(page: Page) -> None:
    page.get_by_role("button", name="ada").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/accounts/login/**")


def test_a_page_whose_session_ended_leads_to_sign_in(page: Page, run: Run) -> None:
    page.context.clear_cookies(name="sessionid")
    page.locator(".cite").first.click()
    page.wait_for_url("**/accounts/login/**")


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_nothing_is_wider_than_the_screen(
    new_page: NewPage, ada: User, run: Run, width: int
) -> None:
    page = new_page(ada, viewport={**PHONE, "width": width}, has_touch=True, is_mobile=True)
    page.goto(f"/c/{run.conversation_id}/")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    sidebar = page.get_by_role("navigation", name="Conversations")
    expect(sidebar).to_be_hidden()
    page.get_by_role("button", name="Show conversations").click()
    expect(sidebar).to_be_visible()
    page.keyboard.press("Escape")
    expect(sidebar).to_be_hidden()
    page.locator(".cite").first.click()
    expect(page.locator("#panel mark")).to_be_visible()
    until(page, "document.getAnimations().every((a) => a.playState === 'finished')")
    box = page.locator("#panel").bounding_box()
    assert box
    assert box["width"] == width
    screenshot(page, f"phone-{width}")


def test_asking_and_copying_work_over_plain_http(
    new_page: NewPage, ada: User, site: str, tower: None
) -> None:
    """A site in a local network has no certificate, so the browser offers it less."""
    page = new_page(ada, base_url=site.replace("127.0.0.1", "lan.example"))
    page.goto("/")
    assert not page.evaluate("isSecureContext")
    page.get_by_label("Your question").fill("How high is the tower of Lund?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#chat")).to_have_attribute("data-state", "done", timeout=30_000)
    page.get_by_role("button", name="Copy").last.click()
    expect(page.locator("[data-copied]")).to_be_visible()


def test_opening_a_citation_of_a_long_conversation_leaves_the_page_where_it_is(
    new_page: NewPage, ada: User
) -> None:
    version = conversations.document("Preface.\n\n" * 60 + conversations.LIGHTHOUSE)
    message = conversations.answered(ada, version=version)
    for _ in range(6):
        conversations.answered(ada, version=version, conversation=message.conversation)
    page = new_page(ada)
    page.goto(f"/c/{message.conversation_id}/")
    page.locator(".cite").first.click()
    expect(page.locator("#panel mark")).to_be_in_viewport()
    assert page.evaluate("document.querySelector('#chat').scrollTop") == 0
    expect(page.get_by_role("button", name="Close")).to_be_in_viewport()
