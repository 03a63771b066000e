"""Asking an earlier question again, changed."""

from __future__ import annotations

from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from tests import conversations
from tests.browser.conftest import PHONE, NewPage, screenshot
from tests.browser.scripted import ScriptedSocket
from tests.browser.test_asking import answer, field

DRAFTS = "Object.entries(localStorage).filter(([n]) => n.endsWith('/draft')).map(([, d]) => d)"


def edit(page: Page) -> Locator:
    return page.get_by_role("button", name="Edit the question").first


def changing(page: Page) -> Locator:
    return page.get_by_text("Changing an earlier question")


def test_a_question_is_asked_again_changed_and_the_draft_comes_back(
    scripted: ScriptedSocket,
) -> None:
    page = scripted.page
    answer(scripted, "How far?\nIn miles.")
    field(page).fill("My draft")
    edit(page).focus()
    page.keyboard.press("Enter")
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_value("How far?\nIn miles.")
    expect(changing(page)).to_be_visible()
    screenshot(page, "editing")
    page.keyboard.type(" By night?")
    assert page.evaluate(DRAFTS) == ["My draft"]
    page.keyboard.press("Enter")
    message = scripted.wait_for("ask")
    assert message["text"] == "How far?\nIn miles. By night?"
    expect(field(page)).to_have_value("My draft")
    expect(changing(page)).to_be_hidden()
    expect(page.locator(".question")).to_have_count(2)
    scripted.begin(message)
    scripted.done("")
    expect(page.locator("#chat")).to_have_attribute("data-state", "done")
    assert page.evaluate(DRAFTS) == ["My draft"]


def test_escape_gives_the_draft_back_before_it_stops(scripted: ScriptedSocket) -> None:
    page = scripted.page
    answer(scripted, "How far?")
    field(page).fill("How high?")
    field(page).press("Enter")
    scripted.begin(scripted.wait_for("ask"))
    field(page).fill("My draft")
    for _ in range(2):  # the second time in the middle of it
        edit(page).click()
    field(page).fill("How near?")
    page.keyboard.press("Escape")
    expect(field(page)).to_have_value("My draft")
    expect(field(page)).to_be_focused()
    expect(changing(page)).to_be_hidden()
    assert not [each for each in scripted.messages if each["type"] == "stop"]
    page.keyboard.press("Escape")
    scripted.wait_for("stop")


def test_what_is_changed_outlives_a_reload_where_there_was_no_draft(
    scripted: ScriptedSocket, ada: User
) -> None:
    page = scripted.page
    run = conversations.answered(ada)
    page.goto(f"/c/{run.conversation_id}/")
    edit(page).click()
    field(page).fill("How near?")
    page.reload()
    expect(field(page)).to_have_value("How near?")


def test_a_phone_has_buttons_for_it(new_page: NewPage, ada: User) -> None:
    run = conversations.answered(ada)
    page = new_page(ada, viewport={**PHONE, "width": 320}, has_touch=True)
    page.goto(f"/c/{run.conversation_id}/")
    edit(page).tap()
    expect(field(page)).to_have_value("How far can the lamp be seen?")
    screenshot(page, "editing-phone")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.get_by_role("button", name="Cancel").tap()
    expect(field(page)).to_have_value("")
    expect(changing(page)).to_be_hidden()
