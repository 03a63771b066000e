"""The page of the API: its description, shown without anything of another host."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage, screenshot, until


def test_the_description_is_shown_and_an_operation_opens(new_page: NewPage) -> None:
    page: Page = new_page()
    hosts = set[str]()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    page.goto("/api/v1/docs")
    until(page, "() => document.querySelector('#api').dataset.state === 'shown'")
    page.get_by_role("button", name="post /api/v1/runs", exact=False).first.click()
    expect(page.get_by_text("Start an answer, and send it")).to_be_visible()
    screenshot(page, "api-docs")
    assert len(hosts) == 1
