"""The source panel: the page or the text that a citation points to, with the sentence marked."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from playwright.sync_api import Locator, Page, expect

from chat.models import Citation, Run
from retrieval.models import Chunk, Collection, DocumentVersion, Visibility
from tests import conversations
from tests.browser.conftest import PHONE, NewPage, screenshot, until

FILES = Path(__file__).parents[1] / "data"
FOUR_PAGES = FILES / "four-pages.pdf"
SCAN = FILES / "scan-ocr-test.pdf"
MIDDLE = {"width": 900, "height": 800}
# A page of a PDF is drawn by two threads that share the machine with much else.
DRAWN_MS = 20_000


def text_of_pages(content: bytes) -> list[str]:
    """Return the text of each page, as an extraction reads it."""
    document = pypdfium2.PdfDocument(content)
    pages = [page.get_textpage().get_text_range() for page in document]
    document.close()
    return [text.replace("\r\n", "\n") + "\n\n" for text in pages]


def pdf(content: bytes, pages: list[str] | None = None) -> DocumentVersion:
    """Make a document of a PDF that is ready, with a chunk for each page."""
    pages = pages or text_of_pages(content)
    version = conversations.document("".join(pages), title="Four pages")
    starts = [0, *accumulate(len(text) for text in pages)]
    version.file.save("file.pdf", ContentFile(content), save=False)
    version.media_type, version.size, version.page_starts = (
        "application/pdf",
        len(content),
        starts[:-1],
    )
    version.save()
    version.chunks.all().delete()
    for ordinal, text in enumerate(pages):
        Chunk.objects.create(
            version=version,
            ordinal=ordinal,
            text=text,
            page_start=ordinal + 1,
            page_end=ordinal + 1,
            char_start=starts[ordinal],
            char_end=starts[ordinal + 1],
        )
    return version


def answered(user: User, version: DocumentVersion, *cited: tuple[int, str]) -> Run:
    """Make an answer that cites sentences, each of a page of the document."""
    answer = " ".join(f"So it is [{number}]." for number in range(1, len(cited) + 1))
    run = conversations.answered(user, answer="So it is.", version=version)
    run.answer.text = answer
    run.answer.save()
    chunks = list(version.chunks.order_by("ordinal"))
    for ordinal, (page, quote) in enumerate(cited):
        start = answer.index(f"[{ordinal + 1}]")
        Citation.objects.create(
            message=run.answer,
            ordinal=ordinal,
            index=ordinal + 1,
            chunk=chunks[page - 1],
            version=version,
            title="Four pages",
            page=page,
            quote=quote,
            span_start=start,
            span_end=start + 3,
        )
    return run


def opened(page: Page, run: Run, number: int = 0) -> Locator:
    """Open a citation of an answer; return the panel."""
    page.goto(f"/c/{run.conversation_id}/")
    page.locator(".cite").nth(number).click()
    return page.locator("#panel")


def shown(panel: Locator, number: int) -> Locator:
    """Wait until a page of the PDF is drawn; return its view."""
    view = panel.locator(f".page-view[data-state=shown][data-page='{number}']")
    expect(view).to_be_visible(timeout=DRAWN_MS)
    return view


@pytest.fixture
def two(ada: User) -> Run:
    """Return an answer that cites the second and the third page of a PDF."""
    version = pdf(FOUR_PAGES.read_bytes())
    pages = text_of_pages(FOUR_PAGES.read_bytes())
    sentences = [" ".join(text[700:].split(". ")[1].split()) + "." for text in pages]
    return answered(ada, version, (2, sentences[1]), (3, sentences[2]))


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


LONG = "".join(f"Line {number} of the report says little.\n\n" for number in range(900))


@pytest.fixture
def long(ada: User) -> Run:
    """Return an answer that cites a sentence in the middle of a long text."""
    version = conversations.document(LONG, title="Report")
    start = LONG.index("Line 450 ")
    version.chunks.update(char_start=start, char_end=start + 300, text=LONG[start : start + 300])
    return answered(ada, version, (1, "Line 451 of the report says little."))


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


def test_escape_closes_the_panel_and_gives_the_focus_back(
    new_page: NewPage, ada: User, long: Run
) -> None:
    page = new_page(ada)
    panel = opened(page, long)
    expect(panel.get_by_role("heading")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator(".cite").first).to_be_focused()


def test_where_there_is_room_the_panel_pushes_and_its_width_is_remembered(
    new_page: NewPage, ada: User, long: Run
) -> None:
    page = new_page(ada)
    panel = opened(page, long)
    edges = """() => document.querySelector(".column").getBoundingClientRect().right
      <= document.querySelector("#panel").getBoundingClientRect().left + 1
      && document.querySelector("#panel").offsetWidth >= 500"""
    until(page, edges)
    until(page, "document.getAnimations().every((a) => a.playState === 'finished')")
    grip = panel.get_by_role("separator")
    grip.focus()
    width = "() => document.querySelector('#panel').offsetWidth"
    before = page.evaluate(width)
    page.keyboard.press("ArrowRight")
    until(page, f"(before) => ({width})() === before - 32", arg=before)
    expect(grip).to_have_attribute("aria-valuenow", str(before - 32))
    place = grip.bounding_box()
    assert place
    page.mouse.move(place["x"] + 4, 300)
    page.mouse.down()
    page.mouse.move(place["x"] + 4 + 60, 300, steps=3)
    page.mouse.up()
    until(page, f"(before) => ({width})() < before - 80", arg=before)
    kept = page.evaluate(width)
    opened(page, long)
    until(page, f"(kept) => ({width})() === kept", arg=kept)


def test_in_the_middle_the_panel_covers_the_right_half(
    new_page: NewPage, ada: User, long: Run
) -> None:
    page = new_page(ada, viewport=MIDDLE)
    opened(page, long)
    until(
        page,
        """() => { const { left, width } = document.querySelector("#panel").getBoundingClientRect();
          return left === 450 && width === 450; }""",
    )
    assert page.locator(".column").evaluate("(column) => column.offsetWidth") == MIDDLE["width"]


def test_on_a_phone_the_panel_is_a_sheet_over_the_page(
    new_page: NewPage, ada: User, two: Run
) -> None:
    page = new_page(ada, viewport=PHONE, has_touch=True)
    panel = opened(page, two)
    view = shown(panel, 2)
    expect(view.locator(".page-mark-quote").first).to_be_in_viewport()
    place = panel.bounding_box()
    assert place
    assert place["width"] == PHONE["width"]
    assert place["y"] > 20
    assert page.locator(".column").evaluate("(column) => column.inert")
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    screenshot(page, "panel-phone")
    page.mouse.click(100, 10)
    expect(panel).to_be_hidden()
    assert not page.locator(".column").evaluate("(column) => column.inert")
    expect(page.locator(".cite").first).to_be_focused()


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


def test_a_citation_that_does_not_support_its_sentence_says_so(
    new_page: NewPage, ada: User, long: Run
) -> None:
    Citation.objects.update(support="unsupported")
    panel = opened(new_page(ada), long)
    expect(panel).to_contain_text("does not support the sentence")


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
