"""The list of conversations, the panel beside them, and the page on other screens."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from chat.models import Conversation, Feedback, Run
from retrieval.models import Document, Stage
from tests import conversations
from tests.browser.conftest import PHONE, NewPage, screenshot, until
from tests.browser.scripted import ScriptedSocket


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
    expect(item.get_by_role("button", name="Rename")).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_have_text("The lamp")
    assert Conversation.objects.get().title == "The lamp"


def test_escape_leaves_the_name_as_it_was(page: Page, run: Run) -> None:
    item = page.locator(".item").first
    item.hover()
    item.get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill("Something else")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name=run.conversation.title)).to_be_visible()
    expect(item.get_by_role("button", name="Rename")).to_be_focused()


def test_the_button_that_saves_a_name_hands_the_focus_back(page: Page) -> None:
    item = page.locator(".item").first
    item.hover()
    item.get_by_role("button", name="Rename").click()
    page.get_by_role("button", name="Save the name").click()
    expect(item.get_by_role("button", name="Rename")).to_be_focused()


def test_deleting_the_open_conversation_is_undone_from_the_new_one(page: Page, run: Run) -> None:
    item = page.locator(".item").first
    item.hover()
    item.get_by_role("button", name="Delete").click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    expect(page).to_have_url(re.compile(r"^[^?]+:\d+/$"))  # a reload says it no more
    expect(page.locator(".item")).to_have_count(0)
    assert not Conversation.objects.exists()
    screenshot(page, "deleted")
    undo.click()
    page.wait_for_url(f"**/c/{run.conversation_id}/")
    expect(page.locator(".answer")).to_contain_text("22 miles")


def test_deleting_another_conversation_is_undone_in_the_list(page: Page, ada: User) -> None:
    Conversation.objects.create(user=ada, title="Another")
    page.reload()
    item = page.locator(".item", has_text="Another")
    item.hover()
    item.get_by_role("button", name="Delete").click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()  # what was pressed is gone
    expect(item).to_have_count(0)
    page.keyboard.press("Enter")
    expect(item).to_be_visible()
    expect(item.get_by_role("link")).to_be_focused()
    expect(page.get_by_text("Brought back")).to_be_visible()
    page.locator("#toast").get_by_role("button", name="Close").click()
    expect(page.locator("#toast")).to_be_empty()
    assert Conversation.objects.count() == 2


def test_what_is_pinned_stands_on_top(page: Page, ada: User, run: Run) -> None:
    Conversation.objects.create(user=ada, title="Another")
    page.reload()
    expect(page.locator(".item").first).to_contain_text("Another")
    item = page.locator(".item", has_text=run.conversation.title)
    item.hover()
    item.get_by_role("button", name="Pin").click()
    expect(page.locator(".period").first).to_contain_text("Pinned")
    expect(page.locator(".item").first).to_contain_text(run.conversation.title)
    expect(item.get_by_role("button", name="Pin")).to_be_focused()
    expect(item.get_by_role("link")).to_have_attribute("aria-current", "page")
    screenshot(page, "pinned")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Pinned")).to_be_hidden()


def test_pinning_deep_in_the_list_leaves_it_as_long_and_where_it_is(page: Page, ada: User) -> None:
    Conversation.objects.bulk_create(
        Conversation(user=ada, title=f"Number {number}") for number in range(130)
    )
    page.reload()
    items, older = page.locator(".item"), page.locator(".older")
    expect(items).to_have_count(60)
    older.scroll_into_view_if_needed()
    expect(items).to_have_count(120)
    item = items.nth(80)
    title = item.get_by_role("link").inner_text()
    item.scroll_into_view_if_needed()
    item.hover()
    was_at = page.evaluate("document.querySelector('#conversations').scrollTop")
    item.get_by_role("button", name="Pin").click()
    pinned = page.locator(".item").first
    expect(pinned).to_contain_text(title)
    expect(pinned.get_by_role("button", name="Pin")).to_be_focused()
    expect(items).to_have_count(121)
    assert page.evaluate("document.querySelector('#conversations').scrollTop") == was_at > 1000
    older.scroll_into_view_if_needed()
    expect(items).to_have_count(131)
    names = page.locator(".item-link").all_inner_texts()
    assert len(set(names)) == 131


def test_nothing_is_polled_while_the_connection_is_lost(scripted: ScriptedSocket) -> None:
    page = scripted.page
    conversations.document().document.versions.update(stage=Stage.QUEUED)
    Document.objects.update(current_version=None)
    page.reload()
    status = "**/documents/status/*"
    page.evaluate("Math.random = () => 1000")  # it does not come back by itself
    assert scripted.route
    scripted.route.close(code=1012)
    expect(page.locator("#chat")).to_have_attribute("data-away", "")
    expect(page.locator(".connection")).to_have_text("Reconnecting…", use_inner_text=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("htmx.ajax('GET', '/documents/status/?', {source: '.document-status'})")
    assert not asked
    with page.expect_request(status):
        page.evaluate("window.dispatchEvent(new Event('online'))")


def test_a_link_opens_one_message_of_many(new_page: NewPage, ada: User, run: Run) -> None:
    version = run.answer.citations.select_related("version").first()
    assert version
    runs = [
        conversations.answered(ada, version=version.version, conversation=run.conversation)
        for _ in range(8)
    ]
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/#message-{runs[2].answer_id}")
    linked = page.locator(f"#message-{runs[2].answer_id}")
    expect(linked).to_be_in_viewport()
    expect(linked).to_be_focused()
    expect(page.locator(".answer").last).not_to_be_in_viewport()
    screenshot(page, "linked")


def test_an_answer_is_rated_and_one_may_change_ones_mind(page: Page, run: Run) -> None:
    answer = page.locator(".answer")
    answer.hover()
    bad = answer.get_by_role("button", name="Not helpful")
    bad.click()
    expect(bad).to_have_attribute("aria-pressed", "true")
    expect(bad).to_be_focused()
    answer.get_by_role("radio", name="It is incomplete").check()
    answer.get_by_label("Comment").fill("And by day?")
    screenshot(page, "feedback")
    answer.get_by_role("button", name="Send").click()
    expect(answer.get_by_text("Thank you.")).to_be_visible()
    page.reload()
    expect(bad).to_have_attribute("aria-pressed", "true")
    answer.get_by_role("button", name="It is incomplete").click()
    expect(answer.get_by_label("Comment")).to_have_value("And by day?")
    answer.get_by_role("button", name="Helpful", exact=True).click()
    expect(bad).to_have_attribute("aria-pressed", "false")
    assert Feedback.objects.get().helpful
    answer.get_by_role("button", name="Helpful", exact=True).click()
    expect(answer.locator("[aria-pressed='true']")).to_have_count(0)
    assert not Feedback.objects.exists()


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
