"""The screens of the tour that those see who look after a site."""

# ruff: noqa: INP001 - a folder of pages

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from docs.tour_answers import DESCALING
from docs.tour_screens import Screen

SLOW = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 400_000}
DOCUMENT = "/admin/retrieval/document"


def upload(page: Page) -> None:
    """Upload two files, one of them large, by a slow line."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "tour-price-list.txt"), Path(folder, "tour-catalogue.txt")
        small.write_text("The bell costs 12 euros.")
        large.write_text("A bicycle for every road. " * 80_000)
        expect(page.locator("form.upload")).to_have_attribute("data-ready", "true")
        page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
        page.locator("#upload-files").set_input_files([small, large])
        expect(page.locator("#upload-rows .stage[data-state=ready]")).to_be_visible(timeout=60_000)
        page.locator(".upload-results").scroll_into_view_if_needed()


def search(page: Page) -> None:
    """Try a search in a document."""
    page.get_by_label("Question or words").fill("parental leave")
    page.keyboard.press("Enter")
    expect(page.locator(".document-hits > li").first).to_be_visible()
    page.get_by_role("heading", name="Try a search").scroll_into_view_if_needed()
    page.evaluate("() => scrollBy(0, 400)")


def try_it(page: Page) -> None:
    """Ask an assistant as its form stands."""
    page.get_by_label("A question, answered as the form stands").fill(DESCALING.question)
    page.locator(".try").get_by_role("button", name="Ask").click()
    expect(page.locator(".try[data-state=done]")).to_be_visible()
    page.locator("#try").evaluate("element => element.scrollIntoView()")


ADMIN = [
    Screen("admin", "The administration", "Django's own, its look kept.", "/admin/"),
    Screen("upload", "Uploading", "Files, folders, or addresses, with how far each is.",
           f"{DOCUMENT}/upload/", upload),
    Screen("documents", "Documents", "Each with what became of it.", f"{DOCUMENT}/"),
    Screen("document", "A document", "Its text, its chunks, its versions.", "{document}"),
    Screen("search", "A search tried", "What a question finds in it, and how it was scored.",
           "{document}", search),
    Screen("broken", "A document that failed", "Why, and what can be done.", "{broken}"),
    Screen("queue", "The queue", "What is worked on, waits, or failed.", f"{DOCUMENT}/queue/"),
    Screen("assistants", "Assistants", "Whom people can ask.", "/admin/chat/assistant/"),
    Screen("assistant", "An assistant", "Its prompt, collections and settings.", "{assistant}"),
    Screen("try-it", "An assistant tried", "As the form stands, saved or not.",
           "{assistant}", try_it),
    Screen("versions", "Versions of an assistant", "What changed, and the way back.", "{versions}"),
    Screen("conversations", "Conversations", "As staff review them.", "/admin/chat/conversation/"),
    Screen("review", "A conversation reviewed", "The chat beside what was found, and why.",
           "{review}"),
    Screen("people", "People", "With their roles.", "/admin/auth/user/"),
    Screen("limits", "Use of limits", "Who used how much today.", "/admin/limits/limit/use/"),
    Screen("audit", "The audit log", "Who did what, and when.", "/admin/audit/auditevent/"),
]  # fmt: skip
