"""Writing a question: keys, drafts, whom to ask, and what is said of a question that is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from chat.models import Assistant
from retrieval.models import Collection, DocumentVersion
from tests import conversations
from tests.browser.conftest import PHONE, NewPage, screenshot, until
from tests.browser.scripted import ScriptedSocket

COMPOSED = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true})"


def field(page: Page) -> Locator:
    return page.get_by_label("Your question")


def ask(scripted: ScriptedSocket, text: str) -> dict[str, Any]:
    """Ask, and return the message."""
    field(scripted.page).fill(text)
    scripted.page.keyboard.press("Enter")
    return scripted.wait_for("ask")


def answer(scripted: ScriptedSocket, text: str, **ids: str) -> None:
    """Ask, and have it answered."""
    scripted.begin(ask(scripted, text), **ids)
    scripted.send("token", text="Far.")
    scripted.done("Far.")
    expect(scripted.page.get_by_role("button", name="Stop")).to_be_hidden()


def refuse(scripted: ScriptedSocket, message: dict[str, Any], code: str, words: str) -> None:
    fields = {"code": code, "message": words, "recoverable": False, "retry_in_ms": 0}
    scripted.send_raw({"type": "error", "run": None, "seq": 0, "ask": message["id"], **fields})


def test_enter_sends_and_breaks_lines_with_shift_or_within_a_word(scripted: ScriptedSocket) -> None:
    page = scripted.page
    field(page).fill("How far?")
    before = field(page).bounding_box()
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("And how high?")
    after = field(page).bounding_box()
    assert before and after
    assert after["height"] > before["height"]
    field(page).evaluate(f"(field) => field.dispatchEvent({COMPOSED})")
    expect(field(page)).to_have_value("How far?\nAnd how high?")
    page.keyboard.press("Enter")
    assert scripted.wait_for("ask")["text"] == "How far?\nAnd how high?"


def test_the_arrow_keys_recall_what_was_asked(scripted: ScriptedSocket) -> None:
    page = scripted.page
    for text in ("How far?", "How high?"):
        answer(scripted, text)
    field(page).press("ArrowUp")
    expect(field(page)).to_have_value("How high?")
    field(page).press("ArrowUp")
    field(page).press("ArrowUp")
    expect(field(page)).to_have_value("How far?")
    field(page).press("ArrowDown")
    field(page).press("ArrowDown")
    expect(field(page)).to_have_value("")
    field(page).fill("I write")
    field(page).press("ArrowUp")
    expect(field(page)).to_have_value("I write")


def test_drafts_are_kept_by_conversation_and_person(new_page: NewPage, ada: User) -> None:
    run = conversations.answered(ada)
    page = new_page(ada)
    page.goto("/")
    field(page).fill("A new matter")
    page.goto(f"/c/{run.conversation_id}/")
    expect(field(page)).to_have_value("")
    field(page).fill("And the lamp?")
    page.reload()
    expect(field(page)).to_have_value("And the lamp?")
    page.goto("/")
    expect(field(page)).to_have_value("A new matter")
    page.evaluate("document.querySelector('#chat').dataset.person = '0'")
    kept = "Object.keys(localStorage).filter((name) => name.endsWith('/draft')).length"
    assert page.evaluate(kept) == 2
    page.get_by_role("button", name="ada").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/accounts/login/**")
    assert page.evaluate(kept) == 0


def test_a_draft_goes_when_the_server_has_the_question(scripted: ScriptedSocket) -> None:
    page = scripted.page
    ask(scripted, "Is it safe?")
    page.reload()
    expect(field(page)).to_have_value("Is it safe?")
    field(page).press("Enter")
    scripted.begin(scripted.wait_for("ask"))
    page.wait_for_url("**/c/*/")
    assert page.evaluate("Object.keys(localStorage).every((n) => !n.endsWith('/draft'))")


def test_a_question_in_a_session_that_has_ended_is_there_after_signing_in(
    scripted: ScriptedSocket,
) -> None:
    page = scripted.page
    ask(scripted, "Is it safe?")
    page.context.clear_cookies(name="sessionid")
    assert scripted.route is not None
    scripted.route.close(code=4401)
    page.wait_for_url("**/accounts/login/?next=*")
    page.locator("[name=login]").fill("ada")
    page.locator("[name=password]").fill("ada")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "login" not in url)
    expect(field(page)).to_have_value("Is it safe?")


def test_the_next_question_is_drafted_while_an_answer_comes(scripted: ScriptedSocket) -> None:
    page = scripted.page
    field(page).fill("How far?")
    page.get_by_role("button", name="Send").click()
    scripted.begin(scripted.wait_for("ask"))
    scripted.send("token", text="Far")
    expect(page.locator(".prose")).to_have_text("Far")
    expect(field(page)).to_be_focused()
    page.keyboard.type("How high?")
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value("How high?")
    assert page.evaluate("Object.values(localStorage)").count("How high?") == 1
    scripted.done("Far.")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    assert [each for each in scripted.messages if each["type"] == "ask"] == []
    expect(field(page)).to_be_focused()
    page.keyboard.press("Enter")
    assert scripted.wait_for("ask")["text"] == "How high?"


@pytest.fixture
def several(transactional_db: None) -> None:
    """Make assistants and collections to choose from."""
    letters, maps = (Collection.objects.create(name=name) for name in ("Letters", "Maps"))
    Assistant.objects.create(name="Default", is_default=True).collections.set([letters, maps])
    greeting = {"greeting": "Ask of old papers.", "suggested_questions": ["Who wrote?"]}
    Assistant.objects.create(name="Archivist", **greeting)
    conversations.document()


def choose(page: Page, *labels: str) -> None:
    page.locator("#choice summary").click()
    for label in labels:
        page.locator(".choice-panel").get_by_text(label, exact=True).click()
    page.keyboard.press("Escape")


def test_who_is_asked_and_what_is_searched_can_be_chosen(
    several: None, scripted: ScriptedSocket
) -> None:
    page = scripted.page
    summary = page.locator("#choice summary")
    expect(summary).to_contain_text("Default")
    expect(summary).to_contain_text("All documents")
    summary.click()
    screenshot(page, "choice")
    expect(page.locator(".choice-panel").get_by_text("Samples")).to_be_hidden()
    summary.click()
    choose(page, "Archivist", "Letters", "Samples")
    expect(summary).to_be_focused()
    expect(summary).to_contain_text("2 collections")
    expect(page.locator(".welcome h2")).to_have_text("Ask of old papers.")
    page.get_by_role("button", name="Who wrote?").click()
    message = scripted.wait_for("ask")
    assert message["text"] == "Who wrote?"
    assert message["assistant"] == "Archivist"
    assert message["collections"] == ["Letters", "Samples"]
    expect(page.locator(".answer-name")).to_have_text("Archivist")
    scripted.begin(message)
    scripted.done("")
    # The conversation is the Archivist's now; the other one is named.
    choose(page, "Letters", "Samples", "Default")
    again = ask(scripted, "And who else?")
    assert again["assistant"] == "Default"
    assert "collections" not in again


def test_a_choice_is_remembered_by_conversation(several: None, scripted: ScriptedSocket) -> None:
    page = scripted.page
    choose(page, "Archivist", "Letters")
    page.reload()
    expect(page.locator("#choice summary")).to_contain_text("Archivist")
    expect(page.locator("#choice summary")).to_contain_text("Letters")
    expect(page.locator(".welcome h2")).to_have_text("Ask of old papers.")
    answer(scripted, "Who wrote?")
    page.goto("/")
    expect(page.locator("#choice summary")).to_contain_text("Default")


def test_what_some_collections_do_not_answer_is_asked_of_all(
    several: None, scripted: ScriptedSocket, ada: User
) -> None:
    page = scripted.page
    run = conversations.answered(
        ada, "Who wrote?", "Not there.", DocumentVersion.objects.get(), finish_reason="no_answer"
    )
    page.unroute("**/messages/*/")  # the server knows this answer
    choose(page, "Archivist", "Letters")
    ids = {"conversation": str(run.conversation_id), "answer": str(run.answer_id)}
    scripted.begin(ask(scripted, "Who wrote?"), **ids)
    scripted.done("Not there.", reason="no_answer")
    everything = page.get_by_role("button", name="Search everything")
    expect(everything).to_be_visible()
    page.reload()
    expect(everything).to_be_visible()
    choose(page, "Letters")
    expect(everything).to_be_hidden()
    choose(page, "Letters")
    everything.click()
    message = scripted.wait_for("ask")
    assert message["text"] == "Who wrote?"
    assert "collections" not in message
    expect(page.locator(".choice-scope")).to_have_text("All documents")


def test_on_a_phone_the_choice_fits(several: None, new_page: NewPage, ada: User) -> None:
    page = new_page(ada, viewport={**PHONE, "width": 320}, color_scheme="dark")
    page.goto("/")
    page.locator("#choice summary").click()
    expect(page.locator(".choice-panel")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    screenshot(page, "choice-phone")


def test_a_long_paste_is_counted_and_refused_with_nothing_lost(scripted: ScriptedSocket) -> None:
    page = scripted.page
    text = "🗼" * 20_100
    field(page).evaluate("(field, text) => field.setRangeText(text)", text)
    field(page).press("End")
    field(page).dispatch_event("input")
    expect(page.locator("#composer-count")).to_have_text("20,100 / 20,000")
    field(page).press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("That is 100 characters too many.")
    screenshot(page, "too-long")
    assert field(page).input_value() == text
    field(page).evaluate("(field) => (field.value = field.value.slice(200))")
    field(page).dispatch_event("input")
    field(page).press("Enter")
    assert len(scripted.wait_for("ask")["text"]) == 20_000


@pytest.mark.parametrize(
    ("code", "way"),
    [
        ("internal", "Try again"),
        ("draining", "Try again"),
        ("unauthorized", "Try again"),
        ("content_filter", "Edit the question"),
        ("access_lost", "New conversation"),
        ("context_too_long", "New conversation"),
    ],
)
def test_every_error_has_one_way_on(scripted: ScriptedSocket, code: str, way: str) -> None:
    page = scripted.page
    scripted.begin(ask(scripted, "Why?"))
    scripted.send("error", code=code, message="Not now.", recoverable=False)
    notice = page.locator("[data-notice=failed]")
    expect(notice.locator(".notice-actions > :visible")).to_have_text([way])
    notice.get_by_text(way).click()
    if way == "Try again":
        assert scripted.wait_for("ask")["text"] == "Why?"
    else:
        expect(field(page)).to_have_value("Why?")
    if way == "New conversation":
        until(page, "location.pathname === '/'")


def test_a_choice_that_is_gone_is_taken_back_with_the_question(
    several: None, scripted: ScriptedSocket
) -> None:
    page = scripted.page
    choose(page, "Archivist")
    refuse(scripted, ask(scripted, "Why?"), "unknown_assistant", "There is no such assistant.")
    expect(page.get_by_role("alert")).to_have_text("There is no such assistant.")
    expect(field(page)).to_have_value("Why?")
    expect(page.locator("#choice summary")).to_contain_text("Default")
    field(page).press("Enter")
    assert "assistant" not in scripted.wait_for("ask")
