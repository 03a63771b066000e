"""What is pressed and cannot be done: it is said, once, in words, and nothing is lost or untrue."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, expect

from chat.models import Conversation, Run
from tests import conversations
from tests.browser.conftest import NewPage, screenshot, until
from tests.browser.scripted import ScriptedSocket


@pytest.fixture
def run(ada: User) -> Run:
    return conversations.answered(ada)


@pytest.fixture
def page(new_page: NewPage, ada: User, run: Run, forgiven: list[str]) -> Page:
    """Return a page that shows a conversation; what fails may be on its console."""
    forgiven += ["htmx", "Failed to load resource", "Response Status Error"]
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    return page


def away(page: Page, address: str) -> None:
    page.route(address, lambda route: route.abort("connectionrefused"))


def hold(page: Page, address: str) -> list[Route]:
    """Leave requests without an answer; return where they come."""
    held: list[Route] = []

    def came(route: Route) -> None:
        held.append(route)

    page.route(address, came)
    return held


def press(page: Page, name: str) -> None:
    """Press a button of the conversation in the list."""
    page.locator(".item").first.hover()
    page.locator(".item").first.get_by_role("button", name=name).click()


def test_a_server_that_is_away_is_said_once_for_whatever_is_pressed(page: Page) -> None:
    away(page, "**/*")
    toast = page.locator("#toast .toast-body")
    for name in ("Pin", "Rename", "Delete"):
        press(page, name)
        expect(toast).to_contain_text("cannot be reached")
        toast.get_by_role("button", name="Close").click()
        expect(toast).to_have_count(0)
    page.locator(".answer").hover()
    for name in ("Helpful", "Not helpful"):
        page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("status").filter(has_text="cannot be reached")).to_be_visible()
    expect(toast).to_have_count(1)
    expect(page.locator(".item")).to_have_count(1)
    screenshot(page, "request-failed")


@pytest.mark.parametrize(
    ("status", "words"),
    [(500, "Something went wrong"), (503, "not available"), (403, "Reload"), (404, "no longer")],
)
def test_an_error_has_words_and_a_deletion_that_failed_is_not_shown_as_done(
    page: Page, status: int, words: str
) -> None:
    page.route("**/delete/", lambda route: route.fulfill(status=status, body="Traceback"))
    press(page, "Delete")
    expect(page.locator("#toast")).to_contain_text(words)
    expect(page.locator("#toast")).not_to_contain_text("Traceback")
    expect(page.locator(".item")).to_have_count(1)


def test_what_was_typed_stays_and_can_be_sent_again(page: Page) -> None:
    press(page, "Rename")
    field = page.get_by_label("New name")
    field.fill("The lamp")
    away(page, "**/rename/")
    field.press("Enter")
    expect(page.locator("#toast")).to_contain_text("cannot be reached")
    expect(field).to_have_value("The lamp")
    page.unroute("**/rename/")
    field.press("Enter")
    expect(page.get_by_role("link", name="The lamp")).to_be_visible()
    expect(page.locator("#toast .toast-body")).to_have_count(0)


def test_what_the_server_says_of_a_field_is_said(page: Page) -> None:
    words = "At most 2,000 characters."
    page.route(
        "**/feedback/",
        lambda route: route.fulfill(status=422, body=words, content_type="text/plain"),
    )
    page.locator(".answer").hover()
    page.get_by_role("button", name="Helpful", exact=True).click()
    expect(page.locator("#toast")).to_contain_text(words)


def test_a_request_that_takes_too_long_is_given_up(page: Page) -> None:
    held = hold(page, "**/pin/")
    assert page.evaluate("htmx.config.timeout") == 20_000
    page.evaluate("htmx.config.timeout = 100")
    press(page, "Pin")
    expect(page.locator("#toast")).to_contain_text("did not answer in time")
    held[0].abort()


def test_an_undo_that_failed_can_be_pressed_again(
    new_page: NewPage, page: Page, ada: User, run: Run
) -> None:
    cited = run.answer.citations.select_related("version").first()
    assert cited
    other = conversations.answered(ada, version=cited.version)
    page.reload()
    item = page.locator(f"[data-id='{other.conversation_id}']")
    item.hover()
    item.get_by_role("button", name="Delete").click()
    away(page, "**/restore/")
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(page.locator("#toast")).to_contain_text("cannot be reached")
    page.unroute("**/restore/")
    undo.click()
    expect(page.locator("#toast")).to_contain_text("Brought back")
    expect(page.locator("#toast")).not_to_contain_text("cannot be reached")
    expect(item).to_be_visible()


def test_what_the_page_asks_for_by_itself_fails_without_a_word(page: Page) -> None:
    away(page, "**/*")
    page.evaluate("htmx.ajax('GET', '/sidebar/', {source: '#conversations'}).catch(() => {})")
    until(page, "() => !document.querySelector('.htmx-request')")
    expect(page.locator("#toast .toast-body")).to_have_count(0)


def test_older_conversations_that_did_not_come_are_asked_for_again(
    new_page: NewPage, ada: User, page: Page
) -> None:
    for _ in range(60):
        Conversation.objects.create(user=ada, title="Earlier")
    page.reload()
    away(page, "**/sidebar/*")
    older = page.locator(".older")
    shown = page.locator(".item").count()
    older.scroll_into_view_if_needed()
    expect(page.locator("#toast")).to_contain_text("cannot be reached")
    page.unroute("**/sidebar/*")
    page.locator(".item").first.scroll_into_view_if_needed()
    older.scroll_into_view_if_needed()
    expect(page.locator(".item").nth(shown)).to_be_attached()


def test_an_answer_that_ended_while_its_conversation_was_not_deleted_is_shown(
    new_page: NewPage, ada: User, run: Run, forgiven: list[str]
) -> None:
    forgiven += ["Response Status Error", "Failed to load resource"]
    page = new_page(ada)
    socket = ScriptedSocket(page)
    page.goto(f"/c/{run.conversation_id}/")
    page.get_by_label("Your question").fill("How far?")
    page.keyboard.press("Enter")
    socket.begin(socket.wait_for("ask"), conversation=str(run.conversation_id))
    held = hold(page, "**/delete/")
    press(page, "Delete")
    until(page, "() => document.querySelector('.htmx-request')")
    socket.done("Far.", reason="cancelled")
    expect(page.locator(".answer").last).to_have_attribute("data-state", "cancelled")
    held[0].fulfill(status=500)
    expect(page.locator("#live")).to_have_text("Answer complete")


def test_a_toast_is_in_the_middle_of_what_is_read(page: Page) -> None:
    away(page, "**/pin/")
    press(page, "Pin")
    expect(page.locator("#toast .toast-body")).to_be_visible()
    toast = page.locator("#toast .toast-body").bounding_box()
    column = page.locator("#thread").bounding_box()
    assert toast and column
    assert abs(toast["x"] + toast["width"] / 2 - column["x"] - column["width"] / 2) < 2
