"""The source panel showing a text, scrolled to the sentence that is cited."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from chat.models import Citation, Run
from tests.browser.conftest import NewPage, screenshot, until
from tests.browser.sources import DRAWN_MS, opened


@pytest.mark.parametrize("what", ["file", "library", "worker"])
def test_what_cannot_be_shown_as_a_page_is_shown_as_text(
    new_page: NewPage, ada: User, two: Run, errors: list[str], what: str
) -> None:
    addresses = {"file": "**/files/*/", "library": "**/pdf.*.mjs", "worker": "**/pdf.worker.*.mjs"}
    page = new_page(ada)
    if what == "file":
        page.route(addresses[what], lambda route: route.fulfill(body=b"%PDF-1.7 and no more"))
    else:
        page.route(addresses[what], lambda route: route.fulfill(status=404))
    panel = opened(page, two)
    expect(panel.locator(".page-view[data-state=failed]")).to_be_attached(timeout=DRAWN_MS)
    expect(panel.locator("[data-page-failed]")).to_be_visible()
    expect(panel.locator("mark")).to_be_in_viewport()
    expect(panel.locator(".page-bar")).to_be_hidden()
    # The browser says itself that something was not found.
    errors[:] = [said for said in errors if "404" not in said]


def test_a_text_is_scrolled_to_the_marked_sentence(new_page: NewPage, ada: User, long: Run) -> None:
    page = new_page(ada)
    panel = opened(page, long)
    expect(panel.locator("mark")).to_have_text("Line 451 of the report says little.")
    expect(panel.locator("mark")).to_be_in_viewport()
    expect(panel).to_contain_text("Version 1")
    screenshot(page, "panel-text")


def test_more_of_a_long_text_is_shown_on_demand_and_what_is_read_stays(
    new_page: NewPage, ada: User, long: Run
) -> None:
    page = new_page(ada)
    panel = opened(page, long)
    text = panel.locator(".excerpt")
    expect(text).not_to_contain_text("Line 300 ")
    before = panel.get_by_role("button", name="Show more before")
    before.focus()
    first = "document.querySelector('.excerpt-text').getBoundingClientRect().top"
    until(page, f"() => {first} !== 0")
    place = panel.locator("mark").evaluate("(mark) => mark.getBoundingClientRect().top")
    scrolled = text.evaluate("(text) => text.scrollTop")
    page.keyboard.press("Enter")
    expect(text).to_contain_text("Line 300 ")
    moved = panel.locator("mark").evaluate("(mark) => mark.getBoundingClientRect().top")
    after = text.evaluate("(text) => text.scrollTop")
    assert after > scrolled
    assert abs(moved - place) < 40  # the button has gone further up
    expect(before).to_be_focused()
    panel.get_by_role("button", name="Show more after").click()
    expect(text).to_contain_text("Line 600 ")


def test_a_citation_that_does_not_support_its_sentence_says_so(
    new_page: NewPage, ada: User, long: Run
) -> None:
    Citation.objects.update(support="unsupported")
    panel = opened(new_page(ada), long)
    expect(panel).to_contain_text("does not support the sentence")
