"""Guests: asking without an account, signing in, and what there is when a limit is reached."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from chat.accounts.models import Guest
from chat.models import Assistant, Conversation
from retrieval.limits.models import Limit
from retrieval.models import Collection
from tests.browser.conftest import PHONE, NewPage, screenshot
from tests.browser.scripted import ScriptedSocket
from tests.conversations import person


@pytest.fixture
def public(tower: None) -> Assistant:
    """Make an assistant that anybody may ask about the tower of Lund."""
    Collection.objects.update(visibility="public")
    return Assistant.objects.create(
        name="Towers", visibility="public", greeting="Ask about towers.", is_default=True
    )


def ask(page: Page, text: str = "How high is the tower of Lund?") -> None:
    page.get_by_label("Your question").fill(text)
    page.keyboard.press("Enter")


def test_a_guest_asks_signs_in_and_keeps_the_answer(new_page: NewPage, public: Assistant) -> None:
    ada = person("ada")
    page = new_page()
    page.goto("/")
    expect(page.get_by_text("Ask about towers.")).to_be_visible()
    ask(page)
    expect(page.locator("#chat")).to_have_attribute("data-state", "done")
    expect(page.locator(".answer .prose")).to_contain_text("96 metres")
    expect(page.locator(".answer-foot .source")).not_to_have_count(0)
    page.locator(".cite").first.click()
    expect(page.locator("#panel mark")).to_contain_text("96 metres")
    conversation = Conversation.objects.get()
    assert conversation.user_id == Guest.objects.get().pk
    screenshot(page, "guest")
    page.get_by_role("link", name="Sign in").click()
    page.locator("[name=login]").fill("ada")
    page.locator("[name=password]").fill("ada")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/c/{conversation.pk}/")
    expect(page.locator(".answer .prose")).to_contain_text("96 metres")
    expect(page.locator("#conversations .item")).to_have_count(1)
    assert Conversation.objects.get().user == ada
    assert not Guest.objects.exists()


def test_a_guest_at_the_limit_keeps_what_was_typed(new_page: NewPage, public: Assistant) -> None:
    Limit.objects.create(scope="guest", questions_a_minute=1)
    page = new_page(viewport=PHONE)
    page.goto("/")
    ask(page)
    expect(page.locator("#chat")).to_have_attribute("data-state", "done")
    ask(page, "Who built it?")
    expect(page.get_by_role("alert")).to_have_text(
        re.compile(r"You may ask 1 question a minute\. You can ask again in \d+ seconds?\.")
    )
    expect(page.get_by_label("Your question")).to_have_value("Who built it?")
    expect(page.locator(".question")).to_have_count(1)
    expect(page.locator("#chat")).to_have_attribute("data-state", "idle")
    screenshot(page, "guest-limit")


def test_a_first_question_that_is_refused_leaves_a_new_page(scripted: ScriptedSocket) -> None:
    page = scripted.page
    ask(page, "Why?")
    message = scripted.wait_for("ask")
    refusal = {
        "type": "error",
        "run": None,
        "seq": 0,
        "code": "quota_exceeded",
        "ask": message["id"],
    }
    scripted.send_raw(
        refusal | {"message": "Later.", "recoverable": True, "retry_in_ms": 10_000_000}
    )
    expect(page.get_by_role("alert")).to_have_text("Later.")
    expect(page.locator("#chat")).to_have_attribute("data-state", "idle")
    expect(page.locator("#chat")).to_have_attribute("data-new", "")
    expect(page.get_by_label("Your question")).to_have_value("Why?")
    page.keyboard.press("Enter")
    assert scripted.wait_for("ask")["text"] == "Why?"
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_refusal_goes_when_one_may_ask_again(scripted: ScriptedSocket) -> None:
    page = scripted.page
    ask(page, "Why?")
    message = scripted.wait_for("ask")
    refusal = {"type": "error", "run": None, "seq": 0, "code": "rate_limited", "ask": message["id"]}
    scripted.send_raw(refusal | {"message": "Soon.", "recoverable": True, "retry_in_ms": 300})
    expect(page.get_by_label("Your question")).to_have_value("Why?")
    expect(page.locator("#composer-refusal")).to_be_hidden()
