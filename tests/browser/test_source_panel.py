"""The source panel showing a page of a PDF, with the sentence marked."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from playwright.sync_api import expect

from chat.models import Citation, Run
from retrieval.models import Collection, Visibility
from tests import conversations
from tests.browser.conftest import NewPage, screenshot, until
from tests.browser.sources import (
    SCAN,
    answered,
    opened,
    pdf,
    shown,
)


def test_a_citation_of_a_pdf_opens_its_page_with_the_sentence_marked(
    new_page: NewPage, ada: User, two: Run
) -> None:
    page = new_page(ada)
    view = shown(opened(page, two), 2)
    expect(view).to_have_attribute("data-marked", "quote")
    mark = view.locator(".page-mark-quote").first
    expect(mark).to_be_in_viewport()
    size = mark.bounding_box()
    sheet = view.locator(".page-sheet").bounding_box()
    scroll = view.locator(".page-scroll").bounding_box()
    assert size and sheet and scroll
    assert 10 < size["width"] < sheet["width"]
    assert 5 < size["height"] < 40
    # To the width that there is.
    assert scroll["width"] - 60 < sheet["width"] < scroll["width"]
    expect(page.locator("#panel .page-number")).to_have_text("Page 2 of 4")
    screenshot(page, "panel-page")


def test_the_mark_lies_on_the_words_of_the_sentence(new_page: NewPage, ada: User, two: Run) -> None:
    page = new_page(ada)
    view = shown(opened(page, two), 2)
    under = view.evaluate(
        """(view) => [...view.querySelectorAll(".page-text span")].filter((span) => {
          const box = span.getBoundingClientRect();
          return [...view.querySelectorAll(".page-mark-quote")].some((mark) => {
            const { left, right, top, bottom } = mark.getBoundingClientRect();
            const x = Math.min(right, box.right) - Math.max(left, box.left);
            const y = Math.min(bottom, box.bottom) - Math.max(top, box.top);
            return x > 2 && y > box.height / 2;
          });
        }).map((span) => span.textContent).join(" ")"""
    )
    quote = Citation.objects.get(ordinal=0).quote
    assert quote.split()[1] in under
    assert quote.split()[-2] in under
    assert len(under) < 3 * len(quote) + 200


def test_pages_are_turned_and_zoomed(new_page: NewPage, ada: User, two: Run) -> None:
    page = new_page(ada)
    panel = opened(page, two)
    width = shown(panel, 2).locator(".page-sheet").bounding_box()
    panel.get_by_role("button", name="Next page").click()
    view = shown(panel, 3)
    expect(view).to_have_attribute("data-marked", "none")
    expect(view.locator(".page-unmarked")).to_be_hidden()
    panel.get_by_role("button", name="Previous page").click()
    shown(panel, 2)
    wider = "(before) => document.querySelector('.page-sheet').offsetWidth > before + 50"
    assert width
    panel.get_by_role("button", name="Zoom in").click()
    until(page, wider, arg=width["width"])
    panel.get_by_role("button", name="Zoom to width").click()
    until(page, f"(before) => !({wider})(before)", arg=width["width"])
    expect(panel.get_by_role("button", name="Zoom out")).to_have_attribute("aria-disabled", "true")


def test_next_and_previous_lead_through_the_citations(
    new_page: NewPage, ada: User, two: Run
) -> None:
    page = new_page(ada)
    panel = opened(page, two)
    shown(panel, 2)
    expect(panel.get_by_role("button", name="Previous citation")).to_be_disabled()
    panel.get_by_role("button", name="Next citation").press("Enter")
    view = shown(panel, 3)
    expect(view.locator(".page-mark-quote").first).to_be_in_viewport()
    expect(panel).to_contain_text("Citation 2 of 2")
    # There is no next one that could keep the focus.
    expect(panel.get_by_role("heading")).to_be_focused()
    panel.get_by_role("button", name="Previous citation").press("Enter")
    shown(panel, 2)
    page.keyboard.press("Escape")
    expect(page.locator(".cite").first).to_be_focused()


def test_the_page_can_be_read_as_text_instead(new_page: NewPage, ada: User, two: Run) -> None:
    page = new_page(ada)
    panel = opened(page, two)
    shown(panel, 2)
    toggle = panel.get_by_role("button", name="Show as text")
    toggle.click()
    expect(panel.locator("mark")).to_be_in_viewport()
    expect(panel.locator(".page-scroll")).to_be_hidden()
    toggle.click()
    expect(panel.locator(".page-scroll")).to_be_visible()


def test_a_page_without_text_is_shown_with_the_quote_above_it(new_page: NewPage, ada: User) -> None:
    version = pdf(SCAN.read_bytes(), ["The words were read from the picture. More words."])
    page = new_page(ada)
    panel = opened(page, answered(ada, version, (1, "The words were read from the picture.")))
    view = shown(panel, 1)
    expect(view).to_have_attribute("data-marked", "none")
    expect(view.locator("blockquote")).to_have_text("The words were read from the picture.")
    expect(view.locator("canvas")).to_be_in_viewport()


def test_pdf_js_comes_with_the_first_pdf(new_page: NewPage, ada: User, two: Run) -> None:
    urls: list[str] = []
    page = new_page(ada)
    page.on("request", lambda request: urls.append(request.url))
    page.goto(f"/c/{two.conversation_id}/")
    expect(page.locator(".cite").first).to_be_visible()
    assert not [url for url in urls if "pdfjs-dist" in url]
    page.locator(".cite").first.click()
    shown(page.locator("#panel"), 2)
    assert [url for url in urls if "pdfjs-dist" in url]


def test_what_one_may_no_longer_see_is_blank(new_page: NewPage, two: Run) -> None:
    bob = conversations.person("bob")
    type(two.conversation).objects.update(user=bob)
    page = new_page(bob)
    page.goto(f"/c/{two.conversation_id}/")
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    page.locator(".cite").first.click()
    panel = page.locator("#panel")
    expect(panel).to_contain_text("You may no longer see this document.")
    expect(panel.locator(".page-view, .excerpt, [download]")).to_have_count(0)
    expect(panel).not_to_contain_text(Citation.objects.all()[0].quote)


def test_the_panel_is_the_same_after_a_reload(new_page: NewPage, ada: User, two: Run) -> None:
    page = new_page(ada)
    said: list[Any] = []
    for _ in range(2):
        panel = opened(page, two, number=1)
        view = shown(panel, 3)
        boxes = view.locator(".page-mark-quote").evaluate_all(
            "(marks) => marks.map((mark) => mark.getAttribute('style'))"
        )
        said.append((panel.locator(".panel-head").inner_text(), boxes))
    assert said[0] == said[1]
    assert said[0][1]


def test_the_document_can_be_downloaded(new_page: NewPage, ada: User, two: Run) -> None:
    page = new_page(ada)
    panel = opened(page, two)
    with page.expect_download() as download:
        panel.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "Four pages.txt"
