"""What is written and sent before the page's scripts have come, or where they do not come."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import NewPage
from tests.browser.scripted import ScriptedSocket

SCRIPTS = "**/js/chat*.js"
QUESTION = "How far can the lamp be seen?"


@pytest.fixture
def held() -> list[Route]:
    return []


@pytest.fixture
def loading(new_page: NewPage, ada: User, held: list[Route]) -> ScriptedSocket:
    """Return a page whose scripts have not come yet."""
    page = new_page(ada)
    socket = ScriptedSocket(page)

    def came(route: Route) -> None:
        held.append(route)

    page.route(SCRIPTS, came)
    page.goto("/", wait_until="commit")
    return socket


def write(page: Page) -> None:
    page.get_by_label("Your question").fill(QUESTION)


def test_one_can_write_at_once(loading: ScriptedSocket, held: list[Route]) -> None:
    field = loading.page.get_by_label("Your question")
    expect(field).to_be_focused()
    loading.page.keyboard.type(QUESTION)
    held[0].continue_()
    expect(loading.page.locator("#composer")).to_have_attribute("data-ready", "")
    expect(field).to_have_value(QUESTION)


def test_enter_sends_once_the_page_can(loading: ScriptedSocket, held: list[Route]) -> None:
    page = loading.page
    write(page)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    expect(page.get_by_text("It is sent as soon as")).to_be_visible()
    held[0].continue_()
    assert loading.wait_for("ask")["text"] == QUESTION
    expect(page.get_by_text("It is sent as soon as")).to_be_hidden()
    expect(page.locator(".question")).to_have_count(1)


def test_the_button_waits_as_well(loading: ScriptedSocket, held: list[Route]) -> None:
    write(loading.page)
    loading.page.get_by_role("button", name="Send").click()
    held[0].continue_()
    assert loading.wait_for("ask")["text"] == QUESTION


def test_who_writes_on_has_not_sent(loading: ScriptedSocket, held: list[Route]) -> None:
    page = loading.page
    write(page)
    page.keyboard.press("Enter")
    page.keyboard.type(" And")
    expect(page.get_by_text("It is sent as soon as")).to_be_hidden()
    held[0].continue_()
    expect(page.locator("#composer")).to_have_attribute("data-ready", "")
    expect(page.get_by_label("Your question")).to_have_value(f"{QUESTION} And")
    assert not loading.messages


def test_lines_are_broken_with_shift_and_nothing_empty_is_held(
    loading: ScriptedSocket, held: list[Route]
) -> None:
    page = loading.page
    page.get_by_label("Your question").press("Enter")
    expect(page.get_by_text("It is sent as soon as")).to_be_hidden()
    write(page)
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_label("Your question")).to_have_value(f"{QUESTION}\n")
    held[0].continue_()
    expect(page.locator("#composer")).to_have_attribute("data-ready", "")


def test_where_the_scripts_do_not_come_the_form_goes_without_them(
    loading: ScriptedSocket, held: list[Route], forgiven: list[str], tower: None
) -> None:
    forgiven.append("Failed to load resource")
    page = loading.page
    page.get_by_label("Your question").fill("How high is the tower of Lund?")
    page.keyboard.press("Enter")
    page.unroute(SCRIPTS)
    held[0].abort()
    page.wait_for_url("**/c/*/")
    expect(page.locator(".prose")).to_contain_text("96 metres")
