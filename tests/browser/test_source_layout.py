"""Where the source panel stands beside or over the page, and how it is closed."""

from __future__ import annotations

from django.contrib.auth.models import User
from playwright.sync_api import expect

from chat.models import Run
from tests.browser.conftest import PHONE, NewPage, screenshot, until
from tests.browser.sources import opened, shown

MIDDLE = {"width": 900, "height": 800}


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
