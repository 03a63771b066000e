"""A browser without JavaScript: reading, and asking by a plain form."""

from __future__ import annotations

from django.contrib.auth.models import User
from playwright.sync_api import expect

from chat.models import Assistant
from tests import conversations
from tests.browser.conftest import PHONE, NewPage, screenshot


def test_a_conversation_is_read_with_its_citations(new_page: NewPage, ada: User) -> None:
    run = conversations.answered(ada)
    page = new_page(ada, java_script_enabled=False)
    page.goto(f"/c/{run.conversation_id}/")
    expect(page.locator(".question-text")).to_have_text("How far can the lamp be seen?")
    expect(page.locator(".prose")).to_contain_text("**22 miles** away [1]")
    cited = page.get_by_role("list", name="Citations")
    expect(cited).to_contain_text("The lamp can be seen from 22 miles away.")
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    screenshot(page, "without-scripts")


def test_a_question_is_answered_by_a_plain_form(new_page: NewPage, ada: User, tower: None) -> None:
    Assistant.objects.create(name="Towers", suggested_questions=["Who built the tower of Lund?"])
    page = new_page(ada, java_script_enabled=False, viewport=PHONE)
    page.goto("/")
    page.get_by_role("button", name="Who built the tower of Lund?").click()
    expect(page.locator(".prose")).to_contain_text("Anna Berg")
    page.get_by_label("Your question").fill("How high is the tower of Lund?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".prose").last).to_contain_text("96 metres")
    expect(page.locator(".answer")).to_have_count(2)
    screenshot(page, "without-scripts-phone")
