"""From signing in to a checked claim, on a real site with a real worker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from chat.models import Conversation
from tests.browser.conftest import PHONE, NewPage, screenshot, until
from tests.provider import Answer, Provider

HANDBOOK = Path(__file__).parents[2] / "retrieval" / "samples" / "employee-handbook.pdf"
QUESTION = "How many weeks of parental leave does a new parent receive?"
# Extraction and embedding share the machine with the browser.
READY_MS = 90_000


def upload(page: Page, file: Path) -> None:
    """Upload a file in the administration, and wait until it can be searched."""
    page.goto("/admin/retrieval/document/upload/")
    page.get_by_label("Name of the new collection").fill("Handbooks")
    page.locator("#upload-files").set_input_files(file)
    expect(page.locator(".stage[data-state=ready]")).to_be_visible(timeout=READY_MS)


def ask(page: Page, text: str) -> None:
    page.get_by_label("Your question").fill(text)
    page.get_by_role("button", name="Send").click()


def armed(page: Page) -> None:
    """Wait until Stop is no longer deaf to the second click of a double click on Send."""
    now = page.evaluate("performance.now()")
    until(page, "since => performance.now() - since > 400", arg=now)


def state(page: Page, name: str) -> None:
    expect(page.locator("#chat")).to_have_attribute("data-state", name, timeout=30_000)


def test_sign_in_upload_ask_and_check_a_claim(new_page: NewPage, ada: User, worker: None) -> None:
    page = new_page()
    page.goto("/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("ada")
    screenshot(page, "login")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("No model is connected")).to_be_visible()
    page.get_by_role("link", name="Upload documents").click()
    upload(page, HANDBOOK)
    screenshot(page, "upload")

    page.goto("/")
    screenshot(page, "empty")
    ask(page, QUESTION)
    state(page, "done")
    page.wait_for_url("**/c/*/")
    answer = page.locator(".answer")
    expect(answer.locator(".prose")).to_contain_text("16 weeks of parental leave")
    sources = answer.get_by_role("heading", name="Sources")
    expect(sources).to_be_visible()
    screenshot(page, "answer")

    answer.locator(".cite").first.click()
    expect(page.locator("#panel mark")).to_contain_text("16 weeks of parental leave")
    expect(page.locator("#panel .page-mark-quote").first).to_be_in_viewport(timeout=30_000)
    expect(page.locator("#panel")).to_contain_text("Page 2")
    screenshot(page, "panel")
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(answer.locator(".cite").first).to_be_focused()

    said = answer.locator(".prose").inner_text()
    page.reload()
    assert answer.locator(".prose").inner_text() == said
    expect(sources).to_be_visible()
    page.get_by_role("link", name="New conversation").click()
    page.get_by_role("navigation").get_by_role("link", name=QUESTION[:30]).click()
    expect(answer.locator(".prose")).to_contain_text("16 weeks of parental leave")

    page.goto(f"/admin/chat/conversation/{Conversation.objects.get().pk}/change/")
    expect(page.locator(".prose .cite").first).to_be_visible()
    page.locator(".prose .cite").first.click()
    expect(page.locator("details.citation").first).to_have_attribute("open", "")
    screenshot(page, "staff")


@pytest.fixture
def held(model: Provider) -> Iterator[Provider]:
    """Return the provider; it produces what it is told to release."""
    model.requests.clear()
    model.hold()
    yield model
    model.resume()


def endless() -> Answer:
    return Answer(tokens=iter(lambda: "The tower is high [1]. ", None))


@pytest.fixture
def writing(
    new_page: NewPage, ada: User, site_with_model: str, held: Provider, tower: object
) -> Page:
    """Return a page on which an endless answer has begun."""
    held.script(endless())
    page = new_page(ada, base_url=site_with_model)
    page.goto("/")
    ask(page, "How high is the tower of Lund?")
    state(page, "searching")
    held.release(3)
    state(page, "streaming")
    expect(page.locator(".prose .cite")).to_have_count(3)
    return page


def test_stop_closes_the_provider_and_keeps_what_was_written(writing: Page, held: Provider) -> None:
    page = writing
    request = held.wait_for_request()
    before = request.tokens
    expect(page.locator(".cursor")).to_be_visible()
    armed(page)
    pressed = time.monotonic()
    page.get_by_role("button", name="Stop").click()
    assert request.closed.result(5) - pressed < 1
    held.release(100)
    state(page, "cancelled")
    expect(page.locator("[data-notice=cancelled]")).to_contain_text("Stopped")
    assert request.tokens == before
    page.reload()
    expect(page.locator(".prose .cite")).to_have_count(3)
    expect(page.locator("[data-notice=cancelled]")).to_be_visible()


def test_closing_the_tab_stops_the_spending(writing: Page, held: Provider) -> None:
    request = held.wait_for_request()
    before = request.tokens
    closed = time.monotonic()
    writing.context.close()
    assert request.closed.result(5) - closed < 1
    held.release(100)
    assert request.tokens == before


def test_a_second_tab_follows_and_stops_the_same_answer(writing: Page, held: Provider) -> None:
    second = writing.context.new_page()
    second.goto(writing.url)
    expect(second.locator(".prose .cite")).to_have_count(3)
    held.release(2)
    for page in (writing, second):
        expect(page.locator(".prose .cite")).to_have_count(5)
    second.get_by_role("button", name="Stop").click()
    for page in (writing, second):
        state(page, "cancelled")


def test_a_reload_in_mid_answer_goes_on(writing: Page, held: Provider) -> None:
    # Without somebody who reads, the answer would be given up at once here.
    reader = writing.context.new_page()
    reader.goto(writing.url)
    expect(reader.locator(".prose .cite")).to_have_count(3)
    writing.reload()
    expect(writing.locator(".prose .cite")).to_have_count(3)
    held.release(2)
    expect(writing.locator(".prose .cite")).to_have_count(5)
    reader.keyboard.press("Escape")
    state(writing, "cancelled")


def test_a_second_tab_sees_what_is_asked_on_the_first(writing: Page, held: Provider) -> None:
    second = writing.context.new_page()
    second.goto(writing.url)
    state(second, "streaming")
    armed(writing)
    writing.get_by_role("button", name="Stop").click()
    for page in (writing, second):
        state(page, "cancelled")
    held.script(endless())
    ask(writing, "And the tower of Malmö?")
    held.release(1)
    expect(second.locator(".question-text").last).to_have_text("And the tower of Malmö?")
    expect(second.locator(".answer").last.locator(".prose .cite")).to_have_count(1)
    writing.keyboard.press("Escape")
    state(second, "cancelled")


def test_an_error_of_the_provider_stands_in_place(
    new_page: NewPage, ada: User, site_with_model: str, model: Provider, tower: object
) -> None:
    model.script(Answer(status=401))
    page = new_page(ada, base_url=site_with_model, viewport=PHONE)
    page.goto("/")
    ask(page, "How high is the tower of Lund?")
    state(page, "failed")
    notice = page.locator("[data-notice=failed]")
    expect(notice).to_be_visible()
    expect(notice).not_to_contain_text("secret detail")
    model.script(Answer(tokens=["96 metres [1]."]))
    notice.get_by_role("button", name="Try again").click()
    state(page, "done")
    expect(page.locator(".answer").last.locator(".prose")).to_contain_text("96 metres")
