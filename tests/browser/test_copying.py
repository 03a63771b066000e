"""What is copied from the page, for use elsewhere."""

from __future__ import annotations

from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from chat.models import Citation
from tests import conversations
from tests.browser.conftest import NewPage


def test_a_link_to_an_answer_and_the_answer_with_its_sources_are_copied(
    new_page: NewPage, ada: User
) -> None:
    run = conversations.answered(ada)
    Citation.objects.filter(ordinal=1).update(page=1, quote="It was automated in 1998.")
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    page.context.grant_permissions(["clipboard-write"])
    answer = page.locator(".answer")
    answer.hover()
    answer.get_by_role("button", name="Copy link").click()
    expect(answer.locator("[data-copy-link][data-copied]")).to_be_visible()
    assert pasted(page).endswith(f"/c/{run.conversation_id}/#message-{run.answer_id}")
    answer.get_by_role("button", name="Copy", exact=True).click()
    expect(answer.locator("[data-copy][data-copied]")).to_be_visible()
    assert pasted(page) == (
        "The lamp can be seen from **22 miles** away [1]. It was automated in 1998 [1].\n\n"
        "**Sources**\n\n"
        "- [1] Lighthouses of Scotland, pp. 1, 2: “The lamp can be seen from 22 miles away.”"
        " “It was automated in 1998.”\n"
    )


def test_asking_and_copying_work_over_plain_http(
    new_page: NewPage, ada: User, site: str, tower: None
) -> None:
    """A site in a local network has no certificate, so the browser offers it less."""
    page = new_page(ada, base_url=site.replace("127.0.0.1", "lan.example"))
    page.goto("/")
    assert not page.evaluate("isSecureContext")
    page.get_by_label("Your question").fill("How high is the tower of Lund?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#chat")).to_have_attribute("data-state", "done", timeout=30_000)
    page.get_by_role("button", name="Copy").last.click()
    expect(page.locator("[data-copied]")).to_be_visible()


def pasted(page: Page) -> str:
    """Return what was copied, as one would see it: the page itself may not read it."""
    field = page.locator("#question")
    field.fill("")
    field.press("Control+V")
    return field.input_value()
